"""read_campaign.py FOLDER - the table of the campaign that export_app_test.sh flew, read by pandas and by polars."""
import json
import pathlib
import sys

import numpy as np
import pandas
import polars

folder = pathlib.Path(sys.argv[1])
answer = json.loads((folder / "campaign.json").read_text())
a, b = pandas.read_parquet(folder / "campaign/results.parquet"), polars.read_parquet(folder / "campaign/results.parquet")
assert list(a.columns) == b.columns and len(a) == len(b) == answer["cases"] == 40
for column in b.columns:
    assert np.array_equal(a[column].to_numpy(), b[column].fill_null(float("nan")).to_numpy(), equal_nan=True), column
assert (a["case"] == np.arange(40)).all()
assert a["drones.alpha.vehicle.mass"].between(26, 30).all()
assert set(a["drones.alpha.controller.gains.rate"]) == {15, 20}, "listed numbers are themselves"
assert set(a["disturbances"]) == {0, 1}, "other listed values are numbered"
assert (a["outcome"] == 0).sum() == answer["completed"]
assert (a["score"] < 0).sum() == answer["failures"]
worst = answer["worst"][0]
assert a["score"].min() == worst["score"] == a["score"][worst["case"]]
print("export: pandas and polars read a campaign's table")
