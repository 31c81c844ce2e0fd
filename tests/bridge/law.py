"""law.py - a simple law for x500, for doubles of firmware: from the truth to four motor commands."""
import math

STANDARD_GRAVITY = 9.80665
MASS, THRUST_MAX, ARM = 2.064, 8.54858, 0.174
TORQUE = 0.016  # [m] torque by thrust
# Motors of a quad X: forward, right, spin (counter-clockwise from above: the reaction turns right).
MOTORS = [(1, 1, 1), (-1, -1, 1), (1, -1, -1), (-1, 1, -1)]


def motors(goal, at, velocity, q, rate):
    """Commands 0 to 1. Places and velocities are north, east, up; the attitude is of forward-right-down axes in north-east-down."""
    asked = []
    for wanted, place, speed in zip(goal, at, velocity):
        towards = max(-1.5, min(1.5, 1.0 * (wanted - place)))
        asked.append(max(-4.0, min(4.0, 2.0 * (towards - speed))))
    w, x, y, z = q
    yaw = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = math.asin(max(-1.0, min(1.0, 2 * (w * y - z * x))))
    forward = asked[0] * math.cos(yaw) + asked[1] * math.sin(yaw)
    right = -asked[0] * math.sin(yaw) + asked[1] * math.cos(yaw)
    up = STANDARD_GRAVITY + asked[2]
    thrust = MASS * up / max(0.5, math.cos(roll) * math.cos(pitch))
    torques = []
    for angle, wanted, speed, inertia in (
        (roll, math.atan2(right, up), rate[0], 0.0236),
        (pitch, math.atan2(-forward, up), rate[1], 0.0236),
        (0.0, 0.0, rate[2], 0.0439),
    ):
        torques.append(inertia * (60.0 * (wanted - angle) - 14.0 * speed))
    out = []
    for ahead, right_side, spin in MOTORS:
        t = thrust / 4 - right_side * torques[0] / (4 * ARM) + ahead * torques[1] / (4 * ARM) + spin * torques[2] / (4 * TORQUE)
        out.append(math.sqrt(max(0.0, min(1.0, t / THRUST_MAX))))
    return out
