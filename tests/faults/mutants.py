"""mutants.py VOLERY WORK COUNT [SEED] - every command on logs with changed bytes, all checksums of which are right again.

A checksum keeps damage from the code behind it; a stranger computes it anew. Oracle: an exit status from 0 to 3 with a sentence, no signal, no hang, no
`.part` without its name; `verify` ends with 0 only where the digest is that of the log as it was written. Then logs with something more in them that the
summary does not name, or an index that leaves something out: a reader that goes from front to back would see another log than one that seeks, so `verify`
must end with 1. Prints one line; exit status 1 with findings.
"""
import os
import random
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator

volery, work, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
SCENARIO = """volery: 1
duration: 0.1 s
log: {compression: none}
drones: [{name: a, vehicle: x500, sensors: {imu: {}}, controller: {kind: hold}}]
bodies: [{name: box, mass: 1, shape: {kind: box, size: [0.2, 0.2, 0.2]}, position: [2, 0, 1]}]
"""
COMMANDS = ("verify m.mcap", "replay m.mcap", "diff in.mcap m.mcap", "view m.mcap -o out.html", "plot m.mcap -o out.svg", "export m.mcap --csv -o out.csv",
            "branch m.mcap --at 0.05 -q -o out.mcap", "recover m.mcap -o out.mcap")
MAGIC = 8  # bytes at both ends
FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, ATTACHMENT, METADATA, SUMMARY_OFFSET, DATA_END = 2, 3, 4, 5, 6, 7, 9, 12, 14, 15


def records(data: bytearray) -> Iterator[tuple[int, int, int]]:
    """Kind, place and size of each record."""
    at = MAGIC
    while at + 9 <= len(data) - MAGIC:
        size = struct.unpack_from("<Q", data, at + 1)[0]
        yield data[at], at + 9, size
        at += 9 + size


def repair(data: bytearray) -> None:
    """All checksums anew; as far as it goes, where a length has changed."""
    for kind, at, size in records(data):
        if kind == CHUNK:
            name = struct.unpack_from("<I", data, at + 28)[0]
            length = struct.unpack_from("<Q", data, at + 32 + name)[0]
            body = at + 40 + name
            struct.pack_into("<I", data, at + 24, zlib.crc32(data[body:body + length]))
        elif kind == ATTACHMENT:
            struct.pack_into("<I", data, at + size - 4, zlib.crc32(data[at:at + size - 4]))
        elif kind == DATA_END:
            struct.pack_into("<I", data, at, zlib.crc32(data[:at - 9]))
        elif kind == FOOTER:
            summary = struct.unpack_from("<Q", data, at)[0]
            if summary:
                struct.pack_into("<I", data, at + 16, zlib.crc32(data[summary:at + 16]))


def mutant(good: bytes, draw: random.Random) -> bytearray:
    data = bytearray(good)
    for _ in range(draw.choice((1, 1, 2, 5))):
        at = draw.randrange(MAGIC, len(data) - MAGIC)
        data[at] = data[at] ^ 1 << draw.randrange(8) if draw.random() < 0.5 else draw.choice((0, 1, 127, 128, 255))
    try:
        repair(data)
    except (struct.error, IndexError):
        pass  # a length that leads out of the file
    return data


def record(kind: int, body: bytes) -> bytes:
    return struct.pack("<BQ", kind, len(body)) + body


def text(word: str) -> bytes:
    return struct.pack("<I", len(word)) + word.encode()


def smuggled(good: bytes, more: bytes) -> bytearray:
    """The log with more records at the end of its data section, and nothing else that is wrong."""
    data = bytearray(good)
    end = next(at - 9 for kind, at, _ in records(data) if kind == DATA_END)
    data[end:end] = more
    for kind, at, _ in list(records(data)):
        for place in {FOOTER: (at, at + 8), SUMMARY_OFFSET: (at + 1,)}.get(kind, ()):
            struct.pack_into("<Q", data, place, struct.unpack_from("<Q", data, place)[0] + len(more))
    repair(data)
    return data


def changed(good: bytes, place: int, word: bytes) -> bytearray:
    data = bytearray(good)
    data[place:place + len(word)] = word
    repair(data)
    return data


def two_logs_in_one(good: bytes) -> Iterator[tuple[str, bytearray]]:
    """What a stranger has done, and the log that he made."""
    pairs = text("status") + text("failed")
    mapping = struct.pack("<I", len(pairs)) + pairs
    yield "a message outside chunks", smuggled(good, record(MESSAGE, struct.pack("<HIQQ", 1, 0, 0, 0) + b"more"))
    yield "a second result", smuggled(good, record(METADATA, text("result") + mapping))
    yield "more metadata", smuggled(good, record(METADATA, text("note") + mapping))
    yield "a second scenario", smuggled(good, record(ATTACHMENT, bytes(16) + text("scenario.yaml") + text("") + struct.pack("<Q", 4) + b"more" + bytes(4)))
    yield "another schema of the same id", smuggled(good, record(SCHEMA, struct.pack("<H", 1) + text("other") + text("") + bytes(4)))
    yield "another channel of the same id", smuggled(good, record(CHANNEL, struct.pack("<HH", 1, 1) + text("/other") + text("") + bytes(4)))
    yield "another topic in front than in the summary", changed(good, good.index(b"/drones/a/imu"), b"/drones/a/imX")
    index = next(at for kind, at, size in records(bytearray(good)) if kind == MESSAGE_INDEX and size > 6)
    yield "an index that names a message of another time", changed(good, index + 6, b"\x01\x02\x03")
    yield "an index of another channel", changed(good, index, b"\x63\x00")


def run(words: str) -> tuple[int, str]:
    try:
        done = subprocess.run([volery, *words.split()], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return -1, "hangs"
    return done.returncode, done.stdout.decode(errors="replace")


def digest(said: str) -> str:
    return next((line for line in said.splitlines() if "digest" in line), "no digest")


def judge(words: str, right: str) -> str:
    status, said = run(words)
    if status not in (0, 1, 2, 3):
        return f"status {status}: {said.strip()[-200:]}"
    if status != 0 and not said.strip():
        return f"status {status}: not a word"
    if words.startswith("verify") and status == 0 and digest(said) != right:
        return f"a changed log is verified: {digest(said)} and not {right}"
    for file in os.listdir(work):
        if file.endswith(".part"):
            os.remove(f"{work}/{file}")
            if file not in said:
                return f"{file} is left without a word"
    return ""


def main() -> int:
    os.makedirs(work, exist_ok=True)
    with open(f"{work}/in.yaml", "w", encoding="utf-8") as out:
        out.write(SCENARIO)
    subprocess.run([volery, "run", "in.yaml", "-q", "-o", "in.mcap"], cwd=work, check=True)
    with open(f"{work}/in.mcap", "rb") as file:
        good = file.read()
    same = bytearray(good)
    repair(same)
    right = digest(run("verify in.mcap")[1])
    if same != good or right == "no digest":
        sys.exit("mutants: the checksums of a whole log are others, or it has no digest")
    draw, found = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1), 0
    for number in range(count):
        with open(f"{work}/m.mcap", "wb") as out:
            out.write(mutant(good, draw))
        for words in COMMANDS:
            finding = judge(words, right)
            if finding:
                found += 1
                print(f"log {number}: {words}: {finding}")
    for what, data in two_logs_in_one(good):
        with open(f"{work}/m.mcap", "wb") as out:
            out.write(data)
        status, said = run("verify m.mcap --no-replay")
        if status != 1 or "CRC" in said:  # a wrong checksum would be found for that alone
            found += 1
            print(f"{what}: verify ends with {status}: {said.strip()[-200:]}")
    print(f"mutants: {count} logs, {found} findings")
    return 1 if found else 0


sys.exit(main())
