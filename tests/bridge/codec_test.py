"""codec_test.py CODEC - the MAVLink messages of src/bridge against pymavlink, both ways, byte for byte."""
import os
import random
import struct
import subprocess
import sys

os.environ["MAVLINK20"] = "1"
from pymavlink.dialects.v20 import common as mavlink  # noqa: E402

# Our members that stand for several of pymavlink's.
AXES = {"acc": "acc", "gyro": "gyro", "mag": "mag"}


def names(kind, member, count):
    if kind == "hil_sensor" and member in AXES:
        return [axis + member for axis in "xyz"]
    if member == "param":
        return [f"param{i + 1}" for i in range(count)]
    if member == "chan":
        return [f"chan{i + 1}_raw" for i in range(count)]
    return [member]


FORMATS = {
    "uint8_t": ("B", "B"), "int8_t": ("b", "B"), "uint16_t": ("H", "H"), "int16_t": ("h", "H"), "uint32_t": ("I", "I"),
    "int32_t": ("i", "I"), "uint64_t": ("Q", "Q"), "float": ("f", "I"), "char": ("c", "B"), "uint8_t_mavlink_version": ("B", "B"),
}


def draw(rng, kind):
    """A value of a wire type; zeros often, since trailing ones are cut."""
    if rng.random() < 0.3:
        return 0.0 if kind == "float" else 0
    if kind == "float":
        return struct.unpack("<f", struct.pack("<f", rng.uniform(-1e6, 1e6)))[0]
    form = FORMATS[kind][0]
    bits = 8 * struct.calcsize("<" + form)
    value = rng.getrandbits(bits)
    return value - (1 << bits) if form.islower() and value >= 1 << (bits - 1) else value


def bits(kind, value):
    form, unsigned = FORMATS[kind]
    if kind == "char":
        return value
    return struct.unpack("<" + unsigned, struct.pack("<" + form, value))[0]


class Codec:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line, answers=1):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return [self.process.stdout.readline().strip() for _ in range(answers)]


def message_of(name, rng):
    """A random message of pymavlink, and its fields as lists of bits under pymavlink's names."""
    cls = getattr(mavlink, f"MAVLink_{name}_message")
    fields, values = {}, []
    for field in cls.fieldnames:
        index = cls.ordered_fieldnames.index(field)
        kind, length = cls.fieldtypes[cls.fieldnames.index(field)], cls.array_lengths[index]
        if kind == "char":
            text = bytes(rng.choice(b"ABC_xyz") for _ in range(rng.randint(0, length)))
            values.append(text)
            fields[field] = list(text.ljust(length, b"\0"))
        elif length:
            drawn = [draw(rng, kind) for _ in range(length)]
            values.append(drawn)
            fields[field] = [bits(kind, v) for v in drawn]
        else:
            drawn = 3 if field == "mavlink_version" else draw(rng, kind)
            values.append(drawn)
            fields[field] = [bits(kind, drawn)]
    if name == "heartbeat":
        values.pop()  # pymavlink sets the version itself
        return cls(*values, 3) if "mavlink_version" in cls.fieldnames else cls(*values), fields
    return cls(*values), fields


def check(codec, name, members, rng):
    message, fields = message_of(name, rng)
    link = mavlink.MAVLink(None, srcSystem=1, srcComponent=2)
    link.seq = 3
    wire = message.pack(link)
    # What newer definitions have added at the end is not ours: zero there.
    ours = [n for member, count in members for n in names(name, member, count)]
    beyond = [f for f in message.fieldnames if f not in ours]
    for f in beyond:
        setattr(message, f, type(getattr(message, f))() if not isinstance(getattr(message, f), list) else getattr(message, f))
        fields[f] = [0] * len(fields[f])
    if beyond:
        link.seq = 3
        wire = message.pack(link)
    told = []
    for member, count in members:
        values = [b for n in names(name, member, count) for b in fields[n]]
        assert len(values) == count, (name, member, values)
        told.append(f"{member}=" + ",".join(f"{b:x}" for b in values))
    packed, = codec.ask(f"pack {name} " + " ".join(told))
    assert packed == wire.hex(), f"{name}: ours {packed}, pymavlink's {wire.hex()}"
    head, dropped = codec.ask(f"unpack {wire.hex()}", 2)
    assert head == f"{name} 1 2 3 " + " ".join(told) and dropped == "dropped 0", f"{name}: {head}"


def members_of(codec, name):
    """Our members of a message with their counts, from what an empty frame of pymavlink unpacks to."""
    cls = getattr(mavlink, f"MAVLink_{name}_message")
    payload = b"\0"
    head = bytes([0xFD, 1, 0, 0, 3, 1, 2]) + cls.id.to_bytes(3, "little") + payload
    crc = mavlink.x25crc(head[1:])
    crc.accumulate(bytes([cls.crc_extra]))
    line, _ = codec.ask(f"unpack {(head + struct.pack('<H', crc.crc)).hex()}", 2)
    return [(word.split("=")[0], word.count(",") + 1) for word in line.split()[4:]]


def main():
    codec = Codec(sys.argv[1])
    rng = random.Random(1)
    known = codec.ask("types")[0].split()
    assert len(known) >= 20
    for name in known:
        members = members_of(codec, name)
        assert members, name
        for _ in range(50):
            check(codec, name, members, rng)
    # Noise before, a cut frame, a wrong checksum, a signed frame, the first version of MAVLink.
    beat = mavlink.MAVLink_heartbeat_message(2, 12, 81, 5, 3, 3)
    link = mavlink.MAVLink(None, srcSystem=1, srcComponent=2)
    wire = beat.pack(link)
    line, _ = codec.ask("unpack 00fe11fd" + wire.hex() + "00" * 300, 2)
    assert line.startswith("heartbeat 1 2 0"), line
    broken = wire[:-1] + bytes([wire[-1] ^ 1])
    assert codec.ask("unpack " + broken.hex() + "00" * 300)[0].startswith("dropped"), "a wrong checksum"
    link.signing.secret_key, link.signing.sign_outgoing = b"k" * 32, True
    signed = beat.pack(link)
    assert len(signed) == len(wire) + 13
    line, dropped = codec.ask("unpack " + signed.hex(), 2)
    assert line.startswith("heartbeat 1 2 0") and dropped == "dropped 0", line
    old = mavlink.MAVLink(None, srcSystem=1, srcComponent=2)
    line, dropped = codec.ask("unpack " + beat.pack(old, force_mavlink1=True).hex(), 2)
    assert line.startswith("heartbeat 1 2 0") and dropped == "dropped 0", line
    print(f"codec: {len(known)} messages, 50 of each, both ways: ok")


main()
