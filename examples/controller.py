#!/usr/bin/env python3
"""A controller as a process, without any dependency: hover by attitude and thrust.

    controller: {kind: process, command: python3 controller.py, period: 10 ms, parameters: {height: 1.5}}

docs/controllers.md describes the wire. Print to stderr: stdout is the wire.
"""
import json
import math
import struct
import sys

ATTITUDE = 4  # the rung of attitude and thrust; others are in volery/controller.h


def read_frame():
    head = sys.stdin.buffer.read(4)
    if len(head) < 4:
        sys.exit(0)  # the run has ended
    return sys.stdin.buffer.read(struct.unpack("<I", head)[0])


def write_frame(data):
    sys.stdout.buffer.write(struct.pack("<I", len(data)) + data)
    sys.stdout.buffer.flush()


start = json.loads(read_frame())
write_frame(b"volery 1")
names, gains = start["samples"], start["parameters"]
height, kp, kd = gains.get("height", 1.0), gains.get("kp", 4.0), gains.get("kd", 3.0)
samples_format = struct.Struct("<%dd" % len(names))

while True:
    samples = dict(zip(names, samples_format.unpack(read_frame())))
    x, y, z = (samples["estimate.position." + axis] for axis in "xyz")
    vx, vy, vz = (samples["estimate.velocity." + axis] for axis in "xyz")
    accel_x = -kp * x - kd * vx
    accel_y = -kp * y - kd * vy
    accel_z = 9.80665 + kp * (height - z) - kd * vz
    # The attitude whose up axis points along (accel_x, accel_y, accel_z), nose to +x.
    length = math.sqrt(accel_x * accel_x + accel_y * accel_y + accel_z * accel_z)
    attitude = (1.0 + accel_z / length, -accel_y / length, accel_x / length, 0.0)
    thrust = max(start["mass"] * accel_z, 0.0)
    write_frame(struct.pack("<7d", samples["tick"], ATTITUDE, thrust, *attitude))
