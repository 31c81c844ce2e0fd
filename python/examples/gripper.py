"""gripper.py [FRICTION ...] - two fingers lift a box by friction, or not.

    python gripper.py 0.4 0.2

Each finger slides in the palm and is pushed by a motor of at most 40 N; the palm slides up a mast. A box of 2 kg stays between the
fingers while 2 F friction >= m (g + a): above 0.245 at rest, and 0.29 while the mast, of at most 70 N, sets it going.
"""

from __future__ import annotations

import sys

import volery

FORCE, MASS, SPEED = 40.0, 2.0, 0.5  # [N] of a finger, [kg] of the box, [m/s] upwards
HOIST = 70.0  # [N] of the mast at most
GAIN = 5e3  # [N s/m] of the mast: under a weight W it sinks by W / GAIN


def lift(friction: float) -> tuple[volery.Bodies, volery.Body, volery.Joint]:
    """Three seconds: close, lift, hold."""
    bodies = volery.Bodies(dt=1 / 500)
    bodies.add(volery.plane(), kind="static")
    box = bodies.add(volery.box(0.2), mass=MASS, position=(0, 0, 0.1), friction=friction)
    palm = bodies.add(volery.box((0.1, 0.7, 0.05)), mass=3, position=(0, 0, 0.4))
    mast = bodies.join("slider", None, palm, axis=(0, 0, 1), motor=(0.0, GAIN, HOIST))
    for side in (-1, 1):
        finger = bodies.add(volery.box((0.08, 0.04, 0.24)), mass=0.5, position=(0, 0.2 * side, 0.2), friction=friction)
        bodies.join("slider", palm, finger, axis=(0, -side, 0), motor=(0.5, 200.0, FORCE))
    bodies.step(250)
    mast.set_motor(speed=SPEED, gain=GAIN, torque=HOIST)
    bodies.step(750)
    mast.set_motor(speed=0.0, gain=GAIN, torque=HOIST)
    bodies.step(500)
    return bodies, box, mast


def main() -> int:
    for friction in map(float, sys.argv[1:] or ("0.4", "0.2")):
        bodies, box, mast = lift(friction)
        print(f"friction {friction:g}: the palm rose by {mast.state().angle:.4f} m, the box is {box.position[2] - 0.1:.4f} m above the ground; "
              f"hash {bodies.hash:016x}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
