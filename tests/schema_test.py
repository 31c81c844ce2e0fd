#!/usr/bin/env python3
"""schema_test.py - docs/scenario.schema.json is a valid JSON Schema that accepts the shipped scenarios and refuses
mistakes. Run by tests/python_test.sh in the project's folder."""
import copy
import glob
import json
import sys

import jsonschema
import yaml

with open("docs/scenario.schema.json", encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)

broken = 0
paths = sorted(glob.glob("scenarios/**/*.yaml", recursive=True))
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
    (["drones", 0, "sensors"], {"truth": "on", "gps": {"period": "0.1 s"}, "mag": {"base": "hmc5883l"}, "baro": "bmp388"}),
    (["drones", 0, "sensors"], {"truth": True}),
    (["faults"], [{"kind": "motor_loss", "rotor": 1}, {"kind": "motor_loss", "rotor": "all"}]),
    (["joints"], [{"kind": "hinge", "a": "a", "b": "world", "damping": "0.02 N m s/rad"}]),
]
refused = [
    (["sed"], 1),
    (["drones", 0, "start"], {"velocity": [1e200, 0, 0]}),
    (["drones", 0, "start"], {"position": [0, 0, -1e13]}),
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
    (["drones", 0, "sensors"], {"gps": {"delay": 0.1}}),
    (["drones", 0, "sensors"], {"truth": 1}),
    (["faults"], [{"kind": "motor_loss", "rotor": 8}]),
    (["joints"], [{"kind": "hinge", "a": "a", "b": "world", "damping": "much"}]),
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
