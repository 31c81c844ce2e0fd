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
layout = struct.Struct("<%dd" % len(names))

while True:
    s = dict(zip(names, layout.unpack(read_frame())))
    x, y, z = (s["estimate.position." + axis] for axis in "xyz")
    vx, vy, vz = (s["estimate.velocity." + axis] for axis in "xyz")
    ax = -kp * x - kd * vx
    ay = -kp * y - kd * vy
    az = 9.80665 + kp * (height - z) - kd * vz
    # The attitude whose up axis points along (ax, ay, az), nose to +x.
    length = math.sqrt(ax * ax + ay * ay + az * az)
    attitude = (1.0 + az / length, -ay / length, ax / length, 0.0)
    thrust = max(start["mass"] * az, 0.0)
    write_frame(struct.pack("<7d", s["tick"], ATTITUDE, thrust, *attitude))
