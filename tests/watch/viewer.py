"""viewer.py - a flight that is watched, and a client of its WebSocket, from scratch: what the tests of it share."""
import atexit
import base64
import hashlib
import http.client
import json
import os
import re
import socket
import struct
import subprocess
import sys

VOLERY, ROOT = sys.argv[1:3]
PATIENCE = 600  # [s] after which a test is taken to hang
checks = 0


def check(what, good, told=""):
    global checks
    checks += 1
    if not good:
        print(f"watch: FAILED: {what} {told}")
        sys.exit(1)


class Flight:
    """A flight under way, and its address."""

    def __init__(self, *arguments, log="watched.mcap", command=None):
        self.log = log
        self.process = None
        atexit.register(self.kill)
        self.process = subprocess.Popen(command or [VOLERY, "run", *arguments, "-q", "-o", log, "--watch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE if command else None, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        found = re.fullmatch(r"watch it at http://([0-9.]+):(\d+)/([0-9a-f]{32})/(, or at any other address of this machine)?\n", line)
        check("the address is printed", found, line)
        self.host, self.port, self.token, self.is_everywhere = found[1], int(found[2]), found[3], found[4] is not None

    def get(self, path=None, method="GET", body=None, **headers):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        connection.putrequest(method, path or f"/{self.token}/", skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def kill(self):
        """What a test that failed has left."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()

    def end(self, status=0):
        told = self.process.communicate(timeout=PATIENCE)[1]
        check("how the flight ends", self.process.returncode == status, f"{self.process.returncode} {told}")


class Viewer:
    """A client of the WebSocket."""

    def __init__(self, flight, query="", expect=101, path=None, protocol="foxglove.sdk.v1", **headers):
        self.socket = socket.create_connection((flight.host, flight.port), timeout=PATIENCE)
        key = base64.b64encode(os.urandom(16)).decode()
        head = {"Host": f"{flight.host}:{flight.port}", "Upgrade": "websocket", "Connection": "keep-alive, Upgrade", "Sec-WebSocket-Key": key,
                "Sec-WebSocket-Version": "13", "Sec-WebSocket-Protocol": f"other, {protocol}"}
        head.update({name.replace("_", "-"): value for name, value in headers.items()})
        lines = [f"GET {path or f'/{flight.token}/'}{query} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items() if value), "", ""]
        self.socket.sendall("\r\n".join(lines).encode())
        self.file = self.socket.makefile("rb")
        answer = [self.file.readline().decode()]
        while answer[-1] not in ("\r\n", ""):
            answer.append(self.file.readline().decode())
        check("answer to a WebSocket", answer[0].startswith(f"HTTP/1.1 {expect} "), answer[0])
        self.channels, self.told, self.messages, self.code = {}, [], {}, None
        if expect != 101:
            return
        accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
        given = {line.split(": ")[0].lower(): line.strip().split(": ")[1] for line in answer[1:] if ": " in line}
        check("the key is accepted", given.get("sec-websocket-accept") == accept, answer)
        check("the protocol is chosen", given.get("sec-websocket-protocol") == "foxglove.sdk.v1", answer)
        info, channels = self.hear(), self.hear()
        check("serverInfo", info["op"] == "serverInfo" and "parameters" in info["capabilities"], info)
        check("advertise", channels["op"] == "advertise", channels)
        self.info = info
        self.channels = {c["topic"]: c for c in channels["channels"]}

    def read(self):
        head = self.file.read(2)
        if len(head) < 2:
            return None, b""
        if head[0] & 0xF0 != 0x80 or head[1] & 0x80:
            check("frames of a server are whole and not masked", False, head)
        size = head[1]
        if size == 126:
            size = struct.unpack(">H", self.file.read(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.file.read(8))[0]
        return head[0] & 15, self.file.read(size)

    def hear(self):
        """The next text; messages that come before are kept."""
        while True:
            op, data = self.read()
            if op == 1:
                return json.loads(data)
            check("no end before an answer", op not in (None, 8), data)
            self.keep(op, data)

    def keep(self, op, data):
        if op == 2 and data[0] == 1:
            number, time = struct.unpack("<IQ", data[1:13])
            self.messages.setdefault(number, []).append((time, data[13:]))
        at = 1
        while op == 2 and data[0] == 0x80 and at < len(data): # the page's way: many at once
            number, time, size = struct.unpack("<IQI", data[at:at + 16])
            self.messages.setdefault(number, []).append((time, data[at + 16:at + 16 + size]))
            at += 16 + size

    def send(self, op, data, last=True, mask=True, size=None):
        size = len(data) if size is None else size
        head = bytes([op | (0x80 if last else 0)])
        bit = 0x80 if mask else 0
        head += bytes([bit | size]) if size < 126 else bytes([bit | 126]) + struct.pack(">H", size) if size < 65536 else bytes([bit | 127]) + struct.pack(">Q", size)
        key = os.urandom(4) if mask else b""
        body = bytes(b ^ key[i % 4] for i, b in enumerate(data)) if mask else data
        self.socket.sendall(head + key + body)

    def say(self, **what):
        self.send(1, json.dumps(what).encode())

    def ask(self, **what):
        """Say it, and wait for the answer with the same id."""
        self.say(**what, id="q")
        while True:
            answer = self.hear()
            if answer.get("id") == "q":
                return {p["name"]: p["value"] for p in answer["parameters"]}
            self.told.append(answer)

    def set(self, **values):
        return self.ask(op="setParameters", parameters=[{"name": f"/flight/{name}", "value": value} for name, value in values.items()])

    def subscribe(self, *topics):
        chosen = [c for topic, c in self.channels.items() if not topics or topic in topics]
        self.say(op="subscribe", subscriptions=[{"id": 1000 + c["id"], "channelId": c["id"]} for c in chosen])

    def watch_to_end(self):
        while True:
            op, data = self.read()
            if op in (None, 8):
                self.code = struct.unpack(">H", data[:2])[0] if data else None
                return self
            if op == 1:
                self.told.append(json.loads(data))
            self.keep(op, data)

    def of(self, topic):
        return self.messages.get(1000 + self.channels[topic]["id"], [])


def hash_of(log):
    done = subprocess.run([VOLERY, "replay", log, "--json"], capture_output=True, text=True, timeout=PATIENCE)
    check(f"{log} replays", done.returncode == 0, done.stdout + done.stderr)
    return json.loads(done.stdout)["final_hash"]
