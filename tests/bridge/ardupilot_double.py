"""ardupilot_double.py PORT [OUTPUTS [HOW [LINK]]] - speaks ArduPilot's side of its JSON interface, and flies by a simple law.

It sends servo packets of 16 or 32 OUTPUTS to UDP port PORT and waits for each answer. Channel 5 of the radio arms
(above 1700), channel 3 is the height: 1000 is the ground, 2000 ten metres.
HOW: `kill` ends it by a signal on the way, `hang` stops asking, `garbage` sends noise, `word` does so once and waits,
`lost` asks each tenth question twice, `restart` counts its frames from the beginning, `reboot` does so from another port,
as the real one. With LINK, a UDP port, it is told by MAVLink in place of the radio (ardupilot_link.py), and `refuse` does
not arm.
"""
import json
import math
import os
import signal
import socket
import struct
import sys
import time

from law import motors

TROUBLE_AT = 4.0  # [s]


def main():
    port = int(sys.argv[1])
    outputs = int(sys.argv[2]) if len(sys.argv) > 2 else 16
    how = sys.argv[3] if len(sys.argv) > 3 else ""
    wire = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    wire.connect(("127.0.0.1", port))
    wire.settimeout(0.2)
    frame, pwm, answers = 1, [1000] * outputs, 0
    link = None
    if len(sys.argv) > 4:
        from ardupilot_link import Link

        link = Link(int(sys.argv[4]), how)
    silent_since = None  # of its range finder
    parent = os.getppid()
    while True:
        os.kill(parent, 0)  # ArduPilot ends where it may not signal its parent
        magic = 18458 if outputs == 16 else 29569
        packet = struct.pack(f"<HHI{outputs}H", magic, 400, frame, *pwm)
        try:
            wire.send(packet)
            data = wire.recv(4096)
        except (TimeoutError, socket.timeout, ConnectionRefusedError):
            if answers > 0 and how != "lost":
                return
            time.sleep(0.01)
            continue
        if how == "lost" and frame % 10 == 0:  # once more: the same answer comes
            wire.send(packet)
            assert wire.recv(4096) == data, "another answer to the same question"
        assert data.startswith(b"\n{") and data.endswith(b"}\n"), data
        state = json.loads(data)
        answers += 1
        wire.settimeout(2.0)
        distance, now = state.get("rng_1", 1.0), state["timestamp"]
        assert distance > 0.0 or math.isnan(distance), "no return is far"
        if math.isnan(distance) and silent_since is None:
            silent_since = now
        elif not math.isnan(distance) and silent_since is not None:
            print(f"double: no range finder for {now - silent_since:.2f} s", file=sys.stderr)
            silent_since = None
        assert data.index(b'"velocity"') < data.index(b'"velocity_wind"'), "ArduPilot takes the first that begins so"
        north, east, down = state["velocity_wind"]  # 0.5 m/s to the north, 1 or 2 to the east
        assert abs(north - 0.5) < 1e-6 and min(abs(east - 1.0), abs(east - 2.0)) < 1e-6 and abs(down) < 1e-6, "wind"
        frame += 1
        if state["timestamp"] > TROUBLE_AT:
            if how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if how == "hang":
                time.sleep(60)
            if how == "reboot":
                wire = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                wire.connect(("127.0.0.1", port))
                wire.settimeout(20.0)
            if how in ("restart", "reboot"):
                frame, how = 1, "begun anew"
            if how == "garbage":
                for _ in range(300):
                    wire.send(b"noise" * 9)
            if how == "word":
                wire.send(b"noise" * 8)
                time.sleep(60)
        rc = state.get("rc", {})
        armed = rc.get("rc_5", 0) > 1700
        place = state["position"]
        up = [place[0], place[1], -place[2]]
        velocity = [state["velocity"][0], state["velocity"][1], -state["velocity"][2]]
        goal = [0.0, 0.0, (rc.get("rc_3", 1000) - 1000) / 100.0]
        if link:
            goal, armed = link.aim(up)
        elif armed and goal[2] <= 0.0:
            goal[2] = up[2] - 0.5
            armed = up[2] > 0.02
        commands = motors(goal, up, velocity, state["quaternion"], state["imu"]["gyro"]) if armed else [0.0] * 4
        pwm = [int(1000 + 1000 * u) for u in commands] + [1500] * (outputs - 4)


main()
