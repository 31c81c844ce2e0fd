"""wrecking_ball.py [PICTURE.png] - a heavy ball on a chain swings through a wall of bricks.

    python wrecking_ball.py wall.png    # a few seconds; the picture needs Pillow

The first lines of `main` are all of the scene. What follows looks at it: how fast the ball came, what its blow took from it,
whether any brick or link was pushed into another, how much of the wall stands.
"""

from __future__ import annotations

import sys

import numpy as np
import volery

TOP = 6.0  # [m] where the chain hangs
LINK = 0.4  # [m] from joint to joint
BRICK = np.array([0.25, 0.5, 0.25])  # [m]


def build() -> tuple[volery.Bodies, list[volery.Body], list[volery.Joint], volery.Body]:
    bodies = volery.Bodies(dt=1 / 240, sleep=0.5)
    bodies.add(volery.plane(), kind="static", friction=0.6)
    wall = [bodies.add(volery.box(BRICK), density=1800, friction=0.6,
                       position=BRICK * (0, column + 0.5 * (row % 2) - 3, row + 0.5)) for row in range(10) for column in range(6)]
    joints, last_link = [], None
    for k in range(10):  # drawn aside to the left until it is level
        link = bodies.add(volery.capsule(0.08, LINK - 0.18), density=7800, position=(-LINK * (k + 0.5), 0, TOP), attitude=(1, 0, 1, 0))
        joints.append(bodies.join("ball", last_link, link, point=(-LINK * k, 0, TOP)))
        last_link = link
    ball = bodies.add(volery.sphere(0.5), mass=500, position=(-LINK * 10 - 0.5, 0, TOP), name="ball")
    joints.append(bodies.join("ball", last_link, ball, point=(-LINK * 10, 0, TOP)))
    return bodies, wall, joints, ball


def main() -> int:
    bodies, wall, joints, ball = build()
    slots = [brick.slot for brick in wall]
    energy_before, speed_max, gap_max, first_hit = sum(bodies.energy[:2]), 0.0, 0.0, None
    for _ in range(1200):  # 5 s
        bodies.step()
        speed_max = max(speed_max, float(np.linalg.norm(ball.velocity)))
        gap_max = max(gap_max, *(joint.state().gap for joint in joints))
        contacts = bodies.contacts()
        hits = contacts[(contacts["a"] == ball.slot) | (contacts["b"] == ball.slot)]
        if first_hit is None and len(hits):
            first_hit = (bodies.time, float(np.linalg.norm(hits["impulse"].sum(axis=0))))
    standing_count = int(np.count_nonzero(np.abs(bodies.positions[slots, 0]) < 0.1))
    lowest_height = float(bodies.positions[slots, 2].min())
    print(f"the ball came at {speed_max:.2f} m/s and hit after {first_hit[0]:.2f} s with {first_hit[1]:.0f} N s" if first_hit else "it missed")
    print(f"{standing_count} of {len(wall)} bricks stand where they did, the lowest one's middle is at {lowest_height:.4f} m; the chain opened by at most "
          f"{gap_max:.1e} m; energy went from {energy_before:.0f} to {sum(bodies.energy[:2]):.0f} J; hash {bodies.hash:016x}")
    if len(sys.argv) > 1:
        from PIL import Image

        colours = {body: (118, 122, 128) for body in bodies} | {brick: (178, 92, 66) for brick in wall} | {ball: (58, 62, 70)}
        Image.fromarray(bodies.render(960, 640, eye=(-6, -7, 3.2), at=(0, 0, 2.2), colours=colours)).save(sys.argv[1], optimize=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
