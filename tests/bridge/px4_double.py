"""px4_double.py PORT LINK_PORT [HOW] - speaks PX4's side of its simulator interface, and flies by a simple law.

It connects to TCP port PORT, answers HIL_SENSOR with HIL_ACTUATOR_CONTROLS in lock-step, and takes parameters,
commands and missions by MAVLink, which it sends to UDP port LINK_PORT and reads by a thread of its own, as PX4 does. The law knows the truth
(HIL_STATE_QUATERNION) and is nothing but a stand-in: what is tested is the way there and back.
HOW: `kill` ends it by a signal on the way, `exit` by itself, `hang` stops answering, `garbage` sends noise,
`again` closes its connection and connects anew, `refuse` does not arm and knows no pings, `weak` gives a tenth less, `mute` sends sensors
no answer. With `busy` that thread comes to it late, as on a busy computer. `late` accepts commands
long after it has obeyed them, and boots for long; `moody` at once, but for the take-off, which it refuses once. At its end it says what it was
told by which message, and when last.
"""
import math
import os
import random
import signal
import socket
import struct
import sys
import threading
import time

os.environ["MAVLINK20"] = "1"
from law import motors  # noqa: E402
from pymavlink.dialects.v20 import common as mavlink  # noqa: E402

RADIUS = 6378137.0
TROUBLE_AT = 4.0  # [s] after the first sample
LATE = 40  # samples from a command to its acknowledgement
# What is said of the last message of a part.
PARTS = {
    "DISTANCE_SENSOR": lambda m: f"orientation {m.orientation}, within {m.min_distance} to {m.max_distance} cm",
    "HIL_OPTICAL_FLOW": lambda m: f"{m.integration_time_us} us, distance {m.distance:.0f} m, quality {m.quality}",
    "RC_CHANNELS": lambda m: f"{m.chancount} channels, {m.chan1_raw} {m.chan2_raw} {m.chan3_raw}",
    "HIL_SENSOR": lambda m: f"{100 * m.diff_pressure:.0f} Pa in front",
}


class Double:
    def __init__(self, port, link_port, how):
        self.how = how
        self.port = port
        self.wire = self.connect()
        self.link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.link.bind(("127.0.0.1", 0))
        self.link_to = ("127.0.0.1", link_port)
        self.mav = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
        self.reader = mavlink.MAVLink(None)
        self.link_reader = mavlink.MAVLink(None)
        self.first = None  # [us] clock of the first sample
        self.state = None
        self.home = None
        self.gps = None
        self.armed = False
        self.goal = None  # north, east, up [m] of the home
        self.items, self.expected, self.route = [], 0, []
        self.parameters = {"MPC_XY_CRUISE": [5.0, 9], "NAV_RCL_ACT": [2, 6], "LANDED": [0, 6]}
        self.landing = False
        self.samples = 0
        self.fields = 0
        self.told = {}  # by message: how many, the last one, and the sample that came before it
        self.boot = 120 if how == "late" else 40  # samples
        self.acks = []  # sample and message
        self.refused = False
        self.lock = threading.Lock()
        threading.Thread(target=self.hear, daemon=True).start()

    def connect(self):
        for _ in range(1000):
            wire = socket.socket()
            try:
                wire.connect(("127.0.0.1", self.port))
                wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return wire
            except OSError:
                wire.close()
                time.sleep(0.01)
        sys.exit("px4_double: nobody listens")

    def send(self, message):
        self.wire.sendall(message.pack(self.mav))

    def tell(self, message):
        self.link.sendto(message.pack(self.mav), self.link_to)

    # --- MAVLink of its own

    def beat(self):
        self.tell(mavlink.MAVLink_heartbeat_message(2, 12, 128 if self.armed else 0, 0, 4, 3))

    def parameter(self, name):
        value, kind = self.parameters[name]
        number = value if kind == 9 else struct.unpack("<f", struct.pack("<i", value))[0]
        self.tell(mavlink.MAVLink_param_value_message(name.encode(), number, kind, 3, 0))

    def set_parameter(self, name, m):
        kind = self.parameters[name][1]
        assert m.param_type == kind, "the type of a parameter"
        self.parameters[name][0] = m.param_value if kind == 9 else struct.unpack("<i", struct.pack("<f", m.param_value))[0]
        self.parameter(name)

    def command(self, m):
        result = 0
        if m.command == 400:
            if self.how == "refuse" or not self.gps:
                result = 1
            else:
                self.armed = m.param1 == 1.0
        elif m.command == 22 and self.how == "moody" and not self.refused:
            self.refused, result = True, 1
        elif m.command == 22:
            self.goal, self.route, self.landing = [self.state[0], self.state[1], m.param7 - self.home[2]], [], False
        elif m.command == 21:
            self.landing, self.route = True, []
        elif m.command == 176 and (m.param2, m.param3) == (4, 4):
            result = 0 if self.items else 1
            self.route = list(self.items)
        elif m.command == 176 and (m.param2, m.param3) == (4, 3):
            self.route = []
        else:
            result = 3
        ack = mavlink.MAVLink_command_ack_message(m.command, result)
        self.acks.append((self.samples + (LATE if self.how == "late" else 0), ack))
        self.acknowledge()

    def acknowledge(self):
        while self.acks and self.acks[0][0] <= self.samples:
            self.tell(self.acks.pop(0)[1])

    def hear(self):
        while True:
            data = self.link.recv(2048)
            if self.how == "busy":
                time.sleep(random.uniform(0.0, 0.03))
            with self.lock:
                self.read(data)

    def read(self, data):
        for m in self.link_reader.parse_buffer(data) or []:
            kind = m.get_type()
            if kind == "PARAM_REQUEST_READ" and m.param_id in self.parameters:
                self.parameter(m.param_id)
            elif kind == "PARAM_SET":
                self.set_parameter(m.param_id, m)
            elif kind == "COMMAND_LONG":
                self.command(m)
            elif kind == "PING" and (m.target_system, m.target_component) == (0, 0) and self.how != "refuse":
                self.tell(mavlink.MAVLink_ping_message(m.time_usec, m.seq, 255, 190))
            elif kind == "MISSION_COUNT":
                self.items, self.expected = [], m.count
                self.tell(mavlink.MAVLink_mission_request_int_message(255, 190, 0))
            elif kind == "MISSION_ITEM_INT" and m.seq == len(self.items) < self.expected:
                self.items.append(self.local(m.x, m.y, m.z))
                if len(self.items) < self.expected:
                    self.tell(mavlink.MAVLink_mission_request_int_message(255, 190, len(self.items)))
                else:
                    self.tell(mavlink.MAVLink_mission_ack_message(255, 190, 0))

    # --- the law

    def local(self, lat, lon, alt):
        north = math.radians(1e-7 * (lat - self.home[0])) * RADIUS
        east = math.radians(1e-7 * (lon - self.home[1])) * RADIUS * math.cos(math.radians(1e-7 * self.home[0]))
        return [north, east, alt - self.home[2]]

    def see(self, m):
        if self.home is None:
            self.home = (m.lat, m.lon, 1e-3 * m.alt)
        self.state = self.local(m.lat, m.lon, 1e-3 * m.alt)
        self.velocity = [1e-2 * m.vx, 1e-2 * m.vy, -1e-2 * m.vz]
        self.q = m.attitude_quaternion
        self.rate = [m.rollspeed, m.pitchspeed, m.yawspeed]

    def steer(self):
        if self.route:
            self.goal = self.route[0]
            if math.dist(self.goal, self.state) < 0.4:
                self.route.pop(0)
        if self.landing and self.goal:
            self.goal = [self.goal[0], self.goal[1], self.state[2] - 0.5]
            if self.state[2] < 0.02:
                self.armed, self.landing = False, False
        if not self.armed or not self.goal:
            return [0.0] * 4
        return motors(self.goal, self.state, self.velocity, self.q, self.rate)

    # --- the wire

    def trouble(self):
        if self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.how == "exit":
            sys.exit(3)
        if self.how == "hang":
            time.sleep(60)
        if self.how == "garbage":
            self.wire.sendall(bytes(range(256)) * 64)
        if self.how == "again":
            self.wire.close()
            self.wire = self.connect()

    def answer(self, m):
        self.fields |= m.fields_updated
        self.samples += 1
        if self.first is None:
            self.first = m.time_usec
        if self.how != "mute" and self.samples % 100 == 1:
            self.beat()
        self.acknowledge()
        if self.samples < self.boot or self.how == "mute":  # it boots
            return
        if 1e-6 * (m.time_usec - self.first) > TROUBLE_AT:
            self.trouble()
        controls = [(0.9 if self.how == "weak" else 1.0) * u for u in self.steer()] + [0.0] * 12
        self.send(mavlink.MAVLink_hil_actuator_controls_message(m.time_usec, controls, 129 if self.armed else 1, 1))

    def fly(self):
        self.send(mavlink.MAVLink_heartbeat_message(0, 12, 0, 0, 0, 3))
        while True:
            data = self.wire.recv(4096)
            if not data:
                return
            for m in self.reader.parse_buffer(data) or []:
                with self.lock:
                    self.take(m)

    def take(self, m):
        count = self.told.get(m.get_type(), (0,))[0]
        self.told[m.get_type()] = (count + 1, m, self.samples)
        if m.get_type() == "HIL_STATE_QUATERNION":
            self.see(m)
        elif m.get_type() == "HIL_GPS":
            self.gps = m
        elif m.get_type() == "HIL_SENSOR":
            self.answer(m)


def end(*_):
    raise ConnectionError("the run is over")


def main():
    double = Double(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "")
    signal.signal(signal.SIGTERM, end)
    try:
        double.fly()
    except (ConnectionError, BrokenPipeError):
        pass
    for name, (count, m, sample) in sorted(double.told.items()):
        print(f"px4_double: {name} {count}, after {0.004 * sample:.0f} s: {PARTS.get(name, lambda m: '-')(m)}", file=sys.stderr)
    # Everything the scenario has has come.
    print(f"px4_double: {double.samples} samples, fields {double.fields:#x}, parameters {double.parameters}", file=sys.stderr)


main()
