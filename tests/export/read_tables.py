"""read_tables.py FOLDER - the tables that export_app_test.sh made, read by NumPy and pyarrow: the same values in both."""
import pathlib
import sys

import numpy as np
import pyarrow.parquet as parquet

folder = pathlib.Path(sys.argv[1])


def columns_of_csv(name):
    table = np.genfromtxt(folder / name, delimiter=",", names=True, deletechars="")
    return {column: table[column] for column in table.dtype.names}


def columns_of_parquet(name):
    table = parquet.read_table(folder / name)
    return {column: table[column].to_numpy(zero_copy_only=False) for column in table.column_names}


csv, packed = columns_of_csv("all.csv"), columns_of_parquet("all.parquet")
assert list(csv) == list(packed), "other columns"
for column, values in csv.items():
    assert np.array_equal(values, packed[column], equal_nan=True), f"{column} differs"
assert len(csv["time"]) == 2001 and csv["time"][-1] == 20.0
assert np.allclose(np.diff(csv["time"]), 0.01)

units = parquet.read_schema(folder / "all.parquet").metadata
assert units[b"unit:body.velocity.x"] == b"m/s" and units[b"unit:forces.gravity.z"] == b"N"

# Weight is mass times g, from the first step that is shown on; what is measured of the position is the position and a millimetre of noise.
assert np.isnan(csv["forces.gravity.z"][:4]).all()
assert np.allclose(csv["forces.gravity.z"][4:], -0.028 * 9.80665, rtol=0, atol=1e-15)
noise = csv["mocap.position.x"] - csv["body.position.x"]
assert 0.0008 < np.std(noise) < 0.0012, np.std(noise)

# Rows at 30 Hz: each is the latest record at or before its time.
even = columns_of_parquet("even.parquet")
assert len(even["time"]) == 601 and np.allclose(even["time"] * 30, np.arange(601))
latest = np.searchsorted(csv["time"], even["time"] + 1e-9, side="right") - 1
assert np.array_equal(even["body.position.y"], csv["body.position.y"][latest])

# More rows than one group of a Parquet file holds; a sensor that speaks late is null until then.
many = parquet.read_table(folder / "many.parquet")
assert parquet.ParquetFile(folder / "many.parquet").num_row_groups > 1
assert many.num_rows == 20001 and many["mocap.position.x"].null_count == 0
assert np.array_equal(many["time"].to_numpy(), np.arange(20001) / 1000)
print("export: tables read by NumPy and pyarrow are the same")
