"""betaflight_double.py [HOW] - speaks Betaflight's side of its SITL packets and of MSP, and flies angle mode by a simple law.

It takes states on UDP port 9003 and sticks on 9004, sends motors to 9002 and answers MSP on TCP port 5761. The switches
of arming and angle mode are those that MSP has set up.
HOW: `kill` ends it by a signal on the way, `exit` with status 3, `hang` sleeps for good, `spin` reads its clock without end,
`garbage` sends noise as motors, `noise` on its UART, `deaf` answers every second packet, `mute` never says a word on its UART,
`refuse` does not arm, `again` closes its ports and opens them once more, `restart` begins anew as a program, `late` opens its UART
after its other ports and, like Betaflight, does not survive a state before that.
"""
import math
import os
import select
import signal
import socket
import struct
import sys
import time

TROUBLE_AT = 4.0  # [s] after the first arming
STATUS, MODE_RANGE, VERSION = 101, 35, 1
ARM, ANGLE = 0, 1


def listen(kind, port):
    s = socket.socket(socket.AF_INET, kind)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", port))
    if kind == socket.SOCK_STREAM:
        s.listen(4)
    return s


def frame(command, body=b"", direction=b">"):
    inner = bytes([len(body), command]) + body
    check = 0
    for b in inner:
        check ^= b
    return b"$M" + direction + inner + bytes([check])


class Double:
    def __init__(self, how):
        self.how = how
        self.ranges = {}  # of a box: channel, from, to
        self.channels = [1500, 1500, 1000, 1500] + [1000] * 12
        self.armed = self.angle = False
        self.armed_at = None
        self.buffer = b""
        self.packets = 0

    def active(self, box):
        if box not in self.ranges:
            return False
        channel, low, high = self.ranges[box]
        return 900 + 25 * low <= self.channels[4 + channel] < 900 + 25 * high

    def msp(self, data):
        self.buffer += data
        out = b""
        while len(self.buffer) >= 6 and len(self.buffer) >= 6 + self.buffer[3]:
            size, command = self.buffer[3], self.buffer[4]
            whole, self.buffer = self.buffer[: 6 + size], self.buffer[6 + size :]
            body = whole[5:-1]
            assert whole == frame(command, body, b"<"), whole
            if command == MODE_RANGE:
                self.ranges[body[1]] = tuple(body[2:5])
                out += frame(command)
            elif command == STATUS:
                out += frame(command, struct.pack("<HHHI", 125, 0, 33, self.armed | self.angle << 1))
            elif command == VERSION:
                out += frame(command, bytes([0, 1, 47]))
            else:
                out += frame(command, b"", b"!")
        return out

    def motors(self, state):
        gyro, quaternion = state[1:4], state[7:11]
        low = self.channels[2] < 1050
        if not self.active(ARM):
            self.armed = False
        elif not self.armed and low and self.how != "refuse":
            self.armed = True
            self.armed_at = self.armed_at or state[0]
        self.angle = self.active(ANGLE)
        if not self.armed:
            return [0.0] * 4
        w, x, y, z = quaternion  # forward-right-down in north-east-down
        roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
        pitch = math.asin(max(-1.0, min(1.0, 2 * (w * y - z * x))))
        stick = [(c - 1500) / 500 for c in self.channels]
        lean = math.radians(60) if self.angle else 0.0
        a = 0.30 * (lean * stick[0] - roll) - 0.07 * gyro[0]
        b = 0.30 * (-lean * stick[1] - pitch) - 0.07 * gyro[1]
        c = 0.2 * (math.radians(100) * stick[3] - gyro[2])
        throttle = 0.055 + 0.945 * max(0.0, (self.channels[2] - 1050) / 950)
        mix = [(-1, 1, 1), (1, -1, 1), (1, 1, -1), (-1, -1, -1)]  # front right, back left, front left, back right
        return [max(0.055, min(1.0, throttle + r * a + p * b + t * c)) for r, p, t in mix]

    def trouble(self, state):
        """What to send in place of the motors, if the time for it has come."""
        if self.armed_at is None or state[0] - self.armed_at < TROUBLE_AT:
            return None
        if self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.how == "exit":
            os._exit(3)
        if self.how == "restart":
            os.execv(sys.executable, [sys.executable, *sys.argv])
        if self.how == "hang":
            signal.pause()
        while self.how == "spin":
            pass
        return b"noise!" if self.how == "garbage" else None


def ports(how=""):
    state_in, rc_in = listen(socket.SOCK_DGRAM, 9003), listen(socket.SOCK_DGRAM, 9004)
    if how == "late" and select.select([state_in], [], [], 0.3)[0]:
        os._exit(9)
    return state_in, rc_in, listen(socket.SOCK_STREAM, 5761)


def main():
    how = sys.argv[1] if len(sys.argv) > 1 else ""
    double = Double(how)
    state_in, rc_in, uart = ports(how)
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    clients = []
    print("double: here", file=sys.stderr)
    while True:
        for s in select.select([rc_in, state_in, uart, *clients], [], [], 0.1)[0]:
            if s is uart:
                clients.append(uart.accept()[0])
                continue
            data = s.recv(4096)
            if (s is rc_in and len(data) != 40) or (s is state_in and len(data) != 144):
                continue  # as Betaflight does
            if s is rc_in:
                double.channels = struct.unpack("<d16H", data)[1:]
            elif s is state_in:
                state = struct.unpack("<18d", data)
                double.packets += 1
                motors = struct.pack("<4f", *double.motors(state))
                trouble = double.trouble(state)
                if how != "deaf" or double.packets % 2 == 0:
                    out.sendto(trouble or motors, ("127.0.0.1", 9002))
                if how == "noise" and double.armed_at is not None and clients:
                    clients[0].send(b"noise" * 20)
                # As of a processor that takes its time: the clock says when, and the packet of then is the next.
                assert time.monotonic() > 0
                if how == "again" and double.armed_at is not None and state[0] - double.armed_at >= TROUBLE_AT:
                    for old in (state_in, rc_in, uart, *clients):
                        old.close()
                    clients, how = [], ""
                    state_in, rc_in, uart = ports()
                    print("double: here again", file=sys.stderr)
                    break
            elif not data:
                clients.remove(s)
                s.close()
            elif how != "mute":
                s.sendall(double.msp(data))


main()
