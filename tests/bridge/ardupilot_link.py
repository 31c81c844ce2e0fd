"""ardupilot_link.py - the MAVLink port of a stand-in for ArduPilot's Copter: parameters, modes, commands and a mission.

As ArduPilot has it: whole numbers of parameters travel as floats, take-off is above the home and in Guided alone, and the
first item of a mission is the home.
"""
import math
import os
import socket

os.environ["MAVLINK20"] = "1"
from pymavlink.dialects.v20 import ardupilotmega as mavlink  # noqa: E402

RADIUS = 6378137.0
AUTO, GUIDED, LAND = 3, 4, 9


class Link:
    def __init__(self, port, how):
        self.how = how
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setblocking(False)
        self.mav = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
        self.reader = mavlink.MAVLink(None)
        self.reader.robust_parsing = True  # noise is passed over
        home = [os.environ["PX4_HOME_LAT"], os.environ["PX4_HOME_LON"]]
        self.home = [float(x) for x in home]  # [deg]
        self.parameters = {"WPNAV_SPEED": [1000.0, 9], "FRAME_CLASS": [0.0, 2], "SIM_GPS1_ENABLE": [1.0, 2]}
        self.armed, self.mode = False, 0
        self.goal, self.route, self.items, self.expected = None, [], [], 0
        self.steps = 0

    def tell(self, message):
        try:
            self.socket.send(message.pack(self.mav))
        except ConnectionRefusedError:
            pass  # nobody listens yet

    def parameter(self, name):
        value, kind = self.parameters[name]
        self.tell(mavlink.MAVLink_param_value_message(name.encode(), value, kind, len(self.parameters), 0))

    def command(self, m, place):
        result = 0
        if m.command == mavlink.MAV_CMD_COMPONENT_ARM_DISARM:
            result = 4 if self.how == "refuse" else 0
            self.armed = result == 0 and m.param1 == 1.0
        elif m.command == mavlink.MAV_CMD_DO_SET_MODE:
            assert m.param1 == 1.0, "a mode of its own"
            self.mode = int(m.param2)
            result = 4 if self.mode == AUTO and len(self.items) < 2 else 0
            if self.mode == AUTO:
                self.route = list(self.items[1:])
        elif m.command == mavlink.MAV_CMD_NAV_TAKEOFF:
            result = 0 if self.mode == GUIDED and self.armed else 4
            self.goal, self.route = [place[0], place[1], m.param7], []
        elif m.command == mavlink.MAV_CMD_NAV_LAND:
            self.mode, self.route = LAND, []
        else:
            result = 3
        self.tell(mavlink.MAVLink_command_ack_message(m.command, result))

    def item(self, m):
        assert m.frame == mavlink.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT, m.frame
        north = math.radians(1e-7 * m.x - self.home[0]) * RADIUS
        east = math.radians(1e-7 * m.y - self.home[1]) * RADIUS * math.cos(math.radians(self.home[0]))
        self.items.append([north, east, m.z])
        if len(self.items) < self.expected:
            self.tell(mavlink.MAVLink_mission_request_int_message(255, 190, len(self.items)))
        else:
            self.tell(mavlink.MAVLink_mission_ack_message(255, 190, 0))

    def hear(self, place):
        if self.steps % 250 == 0:
            self.tell(mavlink.MAVLink_heartbeat_message(2, 3, 128 if self.armed else 0, self.mode, 4, 3))
        self.steps += 1
        while True:
            try:
                data = self.socket.recv(2048)
            except (BlockingIOError, ConnectionRefusedError):
                return
            for m in self.reader.parse_buffer(data) or []:
                kind = m.get_type()
                if kind == "PARAM_REQUEST_READ" and m.param_id in self.parameters:
                    self.parameter(m.param_id)
                elif kind == "PARAM_SET":
                    self.parameters[m.param_id][0] = m.param_value
                    self.parameter(m.param_id)
                elif kind == "COMMAND_LONG":
                    self.command(m, place)
                elif kind == "MISSION_COUNT":
                    self.items, self.expected = [], m.count
                    self.tell(mavlink.MAVLink_mission_request_int_message(255, 190, 0))
                elif kind == "MISSION_ITEM_INT" and m.seq == len(self.items) < self.expected:
                    self.item(m)

    def aim(self, place):
        """Where to, north, east and up of the home, and whether the motors are on."""
        self.hear(place)
        if self.armed and self.route:
            self.goal = self.route[0]
            if math.dist(self.goal, place) < 0.4:
                self.route.pop(0)
        if self.armed:
            want = {"WPNAV_SPEED": 250.5, "FRAME_CLASS": 1.0}
            assert all(self.parameters[name][0] == value for name, value in want.items()), self.parameters
        if self.mode == LAND and self.goal:
            self.goal = [self.goal[0], self.goal[1], place[2] - 0.5]
            self.armed = self.armed and place[2] > 0.02
        return self.goal, self.armed and self.goal is not None
