#!/usr/bin/env python3
"""@name@.py - a controller for Volery that flies the scenario's reference. `make fly` flies it.

It talks to Volery on stdin and stdout: print to stderr. docs/controllers.md describes the wire.
"""
import json
import math
import struct
import sys

ATTITUDE = 4  # the rung of attitude and thrust; others are in volery/controller.h
STANDARD_GRAVITY = 9.80665  # [m/s^2]


def read_frame():
    size = sys.stdin.buffer.read(4)
    if len(size) < 4:
        sys.exit(0)  # the run has ended
    return sys.stdin.buffer.read(struct.unpack("<I", size)[0])


def write_frame(data):
    sys.stdout.buffer.write(struct.pack("<I", len(data)) + data)
    sys.stdout.buffer.flush()


class Controller:
    def __init__(self, start):
        """Once, before the first step: what is known of the drone, and `parameters:` of @name@.yaml."""
        gains = start["parameters"]
        self.mass = start["mass"]  # [kg]
        self.thrust_max = sum(start["thrust_limit"])  # [N] of all rotors together
        self.kp = gains.get("kp", 8.0)  # [1/s^2]
        self.kd = gains.get("kd", 5.0)  # [1/s]
        self.tan_tilt_max = math.tan(gains.get("tilt_max", 0.6))  # of the largest tilt

    def follow(self, samples, axis):
        """The acceleration of the reference, and what brings the drone back to it, along one axis."""
        position_error = samples["reference.position." + axis] - samples["estimate.position." + axis]
        velocity_error = samples["reference.velocity." + axis] - samples["estimate.velocity." + axis]
        return samples["reference.acceleration." + axis] + self.kp * position_error + self.kd * velocity_error

    def step(self, samples):
        """Once per period: from what is measured and wanted to a rung and its numbers, thrust and attitude."""
        x, y, z = self.follow(samples, "x"), self.follow(samples, "y"), self.follow(samples, "z") + STANDARD_GRAVITY

        # Rotors only push upwards, and a drone that tilts too far falls.
        z = max(z, 0.2 * STANDARD_GRAVITY)
        horizontal = math.sqrt(x * x + y * y)
        if horizontal > self.tan_tilt_max * z:
            x *= self.tan_tilt_max * z / horizontal
            y *= self.tan_tilt_max * z / horizontal

        # The nose turns to the yaw of the reference, then the drone tilts until its up axis is along (x, y, z).
        length = math.sqrt(x * x + y * y + z * z)
        w = length + z
        cosine, sine = math.cos(0.5 * samples["reference.yaw"]), math.sin(0.5 * samples["reference.yaw"])
        thrust = min(self.mass * length, self.thrust_max)
        return ATTITUDE, thrust, w * cosine, x * sine - y * cosine, x * cosine + y * sine, w * sine


start = json.loads(read_frame())
write_frame(b"volery 1")
controller = Controller(start)
layout = struct.Struct("<%dd" % len(start["samples"]))
while True:
    samples = dict(zip(start["samples"], layout.unpack(read_frame())))
    reply = controller.step(samples)
    write_frame(struct.pack("<%dd" % (1 + len(reply)), samples["tick"], *reply))
