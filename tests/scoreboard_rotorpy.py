#!/usr/bin/env python3
"""scoreboard_rotorpy.py - RotorPy's Crazyflie on the shipped real flight, as tests/scoreboard.c judges vehicles.

Needs RotorPy (pip install rotorpy); without it there is one line and exit status 0.
"""
import csv
import math
import sys

try:
    import numpy as np
    from rotorpy.vehicles.crazyflie_params import quad_params
    from rotorpy.vehicles.multirotor import Multirotor
except ImportError:
    print("RotorPy is not installed: pip install rotorpy")
    sys.exit(0)

HORIZONS = (0.1, 0.25, 0.5, 1.0)


def rotate(q, w, dt):  # q: x, y, z, w
    """q turned by the body rate w for dt."""
    angle = np.linalg.norm(w) * dt
    axis = w / max(np.linalg.norm(w), 1e-12)
    x, y, z = axis * math.sin(angle / 2)
    c = math.cos(angle / 2)
    a, b, d, e = q
    return np.array([e * x + a * c + b * z - d * y, e * y - a * z + b * c + d * x,
                     e * z + a * y - b * x + d * c, e * c - a * x - b * y - d * z])


def main():
    with open("tests/data/crazyflie/flight.csv", encoding="ascii") as file:
        rows = [[float(x) for x in row] for row in list(csv.reader(file))[1:]]
    data = np.array(rows)
    rate = data[:, 2:5] * 1e-3
    force = data[:, 1] * 9.80665e-3
    top = quad_params["rotor_speed_max"]
    command = data[:, [8, 5, 6, 7]] / 65535 * top  # rotors 0 to 3 are M4, M1, M2, M3
    dt, lag = 0.004, quad_params["tau_m"]
    speed = np.empty_like(command)
    speed[0] = command[0]
    for i in range(1, len(command)):
        speed[i] = command[i - 1] + (speed[i - 1] - command[i - 1]) * math.exp(-dt / lag)
    vehicle = Multirotor(quad_params, control_abstraction="cmd_motor_speeds", aero=False)
    squares, count = np.zeros((3, 4)), 0
    for first in range(3750, 7500 - 251, 25):
        state = {"x": np.zeros(3), "v": np.zeros(3), "q": np.array([0, 0, 0, 1.0]), "w": rate[first].copy(),
                 "wind": np.zeros(3), "rotor_speeds": speed[first].copy()}
        turned, step = np.array([0, 0, 0, 1.0]), 0
        for h, horizon in enumerate(HORIZONS):
            while step * dt < horizon - 1e-9:
                state = vehicle.step(state, {"cmd_motor_speeds": command[first + step]}, dt)
                turned = rotate(turned, 0.5 * (rate[first + step] + rate[first + step + 1]), dt)
                step += 1
            now = first + step
            thrust = quad_params["k_eta"] * np.sum(state["rotor_speeds"] ** 2) / quad_params["mass"]
            off = abs(float(np.dot(turned, state["q"])))
            squares[0, h] += np.sum((state["w"] - rate[now]) ** 2)
            squares[1, h] += math.degrees(2 * math.acos(min(off, 1.0))) ** 2
            squares[2, h] += (thrust - force[now]) ** 2
        count += 1
    print("| RotorPy, crazyflie | " + " | ".join(f"{x:.3g}" for x in np.sqrt(squares / count).ravel()) + " |")


if __name__ == "__main__":
    main()
