#!/usr/bin/env python3
# crazyflie_double.py PORT [HOW] - a stand-in for cflib: connects to the Crazyflie on that UDP port, reads its tables, logs, and
# flies by the high-level commander. It goes by the time in the log alone. HOW: kill, exit and hang end it in the air;
# garbage sends nonsense between all that, which must change nothing; late goes to its place half a second later.
import os
import random
import signal
import socket
import struct
import sys
import zlib

port = int(sys.argv[1])
how = sys.argv[2] if len(sys.argv) > 2 else ""
wire = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
wire.settimeout(60)
wire.connect(("127.0.0.1", port))
NULL = b"\xff"


def send(port, channel, data=b""):
    wire.send(bytes([port << 4 | 0x0C | channel]) + data)


def ask(port, channel, data=b""):
    """The answer's data. A question may come before Volery listens, so it is repeated."""
    head = bytes([port << 4 | 0x0C | channel])
    wire.settimeout(0.5)
    for _ in range(120):
        try:
            send(port, channel, data)
            answer = wire.recv(100)
            while answer[:1] != head:
                answer = wire.recv(100)
            wire.settimeout(60)
            assert len(answer) <= 31, answer
            return answer[1:]
        except (socket.timeout, ConnectionRefusedError):
            pass
    sys.exit("no answer")


def table(port):
    """The items of a table, by name: number and type. Its CRC is that of its items."""
    info = ask(port, 0, b"\x03")
    count, crc = struct.unpack("<HI", info[1:7])
    items, total = {}, 0
    for i in range(count):
        item = ask(port, 0, struct.pack("<BH", 2, i))
        assert item[:3] == struct.pack("<BH", 2, i), item
        group, name = item[4:].split(b"\0")[:2]
        items[(group + b"." + name).decode()] = i, item[3]
        total += 1
    assert total == count == len(items)
    return items, crc


# Who only looks gets a packet, and changes nothing.
looker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
looker.settimeout(0.5)
for _ in range(120):
    try:
        looker.sendto(NULL, ("127.0.0.1", port))
        assert looker.recv(100) == NULL
        break
    except socket.timeout:
        pass

assert ask(15, 1, b"\0")[:18] == b"Bitcraze Crazyflie"
assert ask(15, 0, b"echo") == b"echo"
assert ask(13, 1, b"\0") == b"\0\x0c"
assert ask(5, 1, b"\x05") == b"\x05\0\0"
logs, crc = table(5)
# Types of logs are sent as they are numbered, so this is the CRC of what was sent.
sent = b"".join(bytes([t]) + n.replace(".", "\0").encode() + b"\0" for n, (_, t) in logs.items())
assert crc == zlib.crc32(sent), (crc, zlib.crc32(sent))
assert ask(4, 0, b"\x01") == b"\x01\x01"
memory = ask(4, 0, b"\x02\0")
assert memory[2] == 0x12 and len(memory) == 15
size = struct.unpack("<I", memory[3:7])[0]
parameters, _ = table(2)
for name, (i, kind) in parameters.items():
    value = ask(2, 1, struct.pack("<H", i))
    assert value[:3] == struct.pack("<HB", i, 0), (name, value)
number = parameters["hlCommander.vtoff"][0]
assert ask(2, 2, struct.pack("<Hf", number, 0.75)) == struct.pack("<Hf", number, 0.75)
assert ask(2, 1, struct.pack("<H", number)) == struct.pack("<HBf", number, 0, 0.75)
fixed = parameters["deck.bcZRanger2"][0]
assert parameters["deck.bcZRanger2"][1] & 0x40
assert ask(2, 2, struct.pack("<HB", fixed, 7)) == struct.pack("<HB", fixed, 1)  # is not written
assert ask(2, 1, struct.pack("<H", 999))[2] == 2  # ENOENT

# A trajectory: one piece of four seconds, half a metre to the left and back, x, z and yaw as they are.
side = [0.0, 0.0, 1 / 2, -1 / 4, 1 / 32, 0.0, 0.0, 0.0]  # t^2 (4 - t)^2 / 32
piece = struct.pack("<33f", *([0.0] * 8 + side + [0.0] * 8 + [0.0] * 8 + [4.0]))
for at in range(0, len(piece), 24):
    answer = ask(4, 2, struct.pack("<BI", 0, at) + piece[at:at + 24])
    assert answer == struct.pack("<BIB", 0, at, 0), answer
assert ask(4, 1, struct.pack("<BIB", 0, 24, 24))[6:] == piece[24:48]
assert ask(4, 1, struct.pack("<BIB", 0, size - 8, 24))[5] != 0  # beyond its end
assert ask(8, 0, struct.pack("<BBBBIB", 6, 1, 1, 0, 0, 1))[3] == 0

# A block: floats, and one as half precision; then it flies by the times of its packets.
names = ["stateEstimate.x", "stateEstimate.y", "stateEstimate.z", "stateEstimate.yaw"]
wanted = b"".join(struct.pack("<BH", 7 | 7 << 4, logs[n][0]) for n in names)
wanted += struct.pack("<BH", 8 | 7 << 4, logs["stateEstimate.z"][0])
wanted += struct.pack("<BH", 1 | 1 << 4, logs["sys.isFlying"][0])
assert ask(5, 1, b"\x06\x01" + wanted) == b"\x06\x01\0"
assert ask(5, 1, b"\x06\x01" + wanted)[2] == 17  # EEXIST
assert ask(5, 1, b"\x07\x01" + 8 * struct.pack("<BH", 7, 0))[2] == 7  # E2BIG
plan = [
    (500, 8, struct.pack("<BBff?f", 7, 0, 1.0, 0.0, False, 2.0)),  # take off
    (4000, 8, struct.pack("<BBBBfffff", 12, 0, 0, 0, 2.0, 1.0, 1.0, 1.0, 3.0)),  # go to
    (8000, 8, struct.pack("<BBBBBBf", 13, 0, 1, 0, 0, 1, 1.0)),  # the trajectory, from here
    (12500, 8, struct.pack("<BBBBfffff", 12, 0, 1, 1, -0.2, 0.0, 0.0, 0.0, 1.0)),  # on a line, relative
    (14000, 8, struct.pack("<BBff?f", 8, 0, 0.0, 0.0, True, 2.0)),  # land
]
if how == "late":
    plan[1] = (4500, *plan[1][1:])
dice = random.Random(1)
highest, widest = 0.0, 0.0
assert ask(5, 1, b"\x03\x01\x0a") == b"\x03\x01\0"  # every 100 ms
while True:
    packet = wire.recv(100)
    if packet[:1] != bytes([5 << 4 | 0x0C | 2]):
        continue
    time = struct.unpack("<I", packet[2:5] + b"\0")[0]
    x, y, z, yaw, half, flies = struct.unpack("<ffffeB", packet[5:])
    assert packet[1] == 1 and abs(half - z) <= max(2e-8, abs(z) / 2048), (half, z)
    assert half == struct.unpack("<e", struct.pack("<e", z))[0], (half, z)
    highest, widest = max(highest, z), max(widest, y)
    if how and time >= 6000:
        if how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "exit":
            sys.exit(3)
        if how == "hang":
            signal.pause()
    if how == "garbage":
        for _ in range(3):
            junk = dice.randbytes(dice.randrange(0, 60))
            # Ports and channels on which these bytes could be a command are left out.
            if junk[:1] and junk[0] >> 4 not in (3, 5, 6, 7, 8, 9, 13, 15):
                wire.send(junk)
        wire.send(struct.pack("<BBBff?f", 8 << 4 | 0x0C, 7, 0, float("nan"), 0.0, False, 2.0))
        wire.send(struct.pack("<BBBBBfffff", 8 << 4 | 0x0C, 12, 0, 0, 0, 1e30, 0.0, 1.0, 0.0, 1.0))
        wire.send(struct.pack("<BBBff", 8 << 4 | 0x0C, 1, 0, 1.0, -3.0))
    if plan and time >= plan[0][0]:
        send(plan[0][1], 0, plan[0][2])
        plan.pop(0)
    if time >= 18000:
        assert flies == 0, "it has landed"
        send(5, 1, b"\x04\x01")  # no more of it, then the last answer
        wire.send(NULL)
        break
    wire.send(NULL)
assert abs(highest - 1.0) < 0.05 and abs(widest - 1.5) < 0.06, (highest, widest)
