#!/usr/bin/env python3
"""schema_test.py - docs/scenario.schema.json is a valid JSON Schema that accepts the shipped scenarios and refuses
mistakes. Exit status 77: jsonschema or PyYAML is not installed."""
import copy
import glob
import json
import sys

try:
    import jsonschema
    import yaml
except ImportError as error:
    print(f"schema: skipped, {error}")
    sys.exit(77)

with open("docs/scenario.schema.json", encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)

broken = 0
paths = sorted(glob.glob("scenarios/*.yaml"))
for path in paths:
    with open(path, encoding="utf-8") as file:
        scenario = yaml.safe_load(file)
    for error in validator.iter_errors(scenario):
        print(f"{path}: {error.message[:200]}")
        broken += 1

good = {"volery": 1, "drones": [{"name": "a"}]}
assert validator.is_valid(good)


def changed(path, value):
    """`good` with one value put at a path."""
    result = copy.deepcopy(good)
    at = result
    for key in path[:-1]:
        at = at[key] if isinstance(at, list) else at.setdefault(key, {})
    at[path[-1]] = value
    return result


accepted = [
    (["step"], "1 ms"),
    (["step"], 0.001),
    (["drones", 0, "start", "rotor_speed"], "hover"),
    (["drones", 0, "start", "attitude"], {"yaw": "90 deg"}),
    (["drones", 0, "vehicle"], {"base": "crazyflie2x", "mass": "30 g"}),
    (["disturbances"], [{"kind": "impulse", "force": ["1 mN s", 0, 0], "duration": "5 ms"}]),
    (["disturbances"], [{"kind": "noise", "force": ["1 mN", 0, 0], "duration": "forever"}]),
    (["expect"], [{"quantity": "tilt", "max": "20 deg"}]),
]
refused = [
    (["sed"], 1),
    (["volery"], 2),
    (["step"], "1 kg"),
    (["step"], 0),
    (["seed"], -1),
    (["drones"], []),
    (["drones", 0, "name"], "3d"),
    (["drones", 0, "start", "position"], [0, 0]),
    (["drones", 0, "start", "rotor_speed"], "fast"),
    (["drones", 0, "vehicle"], {"mass": 1}),
    (["drones", 0, "controller", "kind"], "holt"),
    (["disturbances"], [{"force": [1, 0, 0]}]),
    (["disturbances"], [{"kind": "gust"}]),
    (["log", "every"], 0),
]
for path, value in accepted:
    if not validator.is_valid(changed(path, value)):
        print(f"refused, but good: {path} = {value}")
        broken += 1
for path, value in refused:
    if validator.is_valid(changed(path, value)):
        print(f"accepted, but bad: {path} = {value}")
        broken += 1

print(f"schema: {len(paths)} scenarios, {len(accepted)} good and {len(refused)} bad changes, {broken} wrong")
sys.exit(1 if broken else 0)
