"""read_tracks.py FOLDER - the paths that volery export wrote, by others: KML against OGC's schema, which fastkml carries, GPX by
gpxpy and against the rules of GPX 1.1 that its schema states."""
import csv
import math
import sys
from pathlib import Path

import gpxpy
from fastkml import kml
from fastkml.validator import validate
from lxml import etree

folder = Path(sys.argv[1])
GPX = "{http://www.topografix.com/GPX/1/1}"


def table(name):
    with open(folder / name, newline="") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def check_gpx_rules(path):
    root = etree.parse(str(path)).getroot()
    assert root.tag == GPX + "gpx" and root.get("version") == "1.1" and root.get("creator")
    for track in root:
        assert track.tag == GPX + "trk" and [child.tag for child in track] == [GPX + "name", GPX + "trkseg"]
        for point in track[1]:
            assert point.tag == GPX + "trkpt" and set(point.attrib) == {"lat", "lon"}
            assert -90.0 <= float(point.get("lat")) <= 90.0 and -180.0 <= float(point.get("lon")) < 180.0
            assert [child.tag for child in point] == [GPX + "ele", GPX + "time"]


rows = table("track.csv")
assert validate(file_to_validate=folder / "track.kml")
document = kml.KML.parse(folder / "track.kml")
line = list(list(document.features)[0].features)[0].geometry
check_gpx_rules(folder / "track.gpx")
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
assert {"geodetic.height", "geodetic.ground_speed", "geodetic.air_speed", "geodetic.climb", "geodetic.track"} <= rows[0].keys()
assert "body.position.x" not in rows[0]
print(f"tracks: {len(points)} points of KML and GPX read back")
