# read_log.py - reads what write_log.c wrote with the PyPI package mcap and compares every value and count.
# usage: read_log.py WHOLE... --torn TORN FLIGHT; FLIGHT is the log of the scenario payload
import sys

from mcap.reader import make_reader
from mcap.records import Chunk, DataEnd, Footer, MessageIndex
from mcap.stream_reader import StreamReader, breakup_chunk
from mcap_protobuf.decoder import DecoderFactory

STATES, PERIOD = 5000, 1000000
EVERY = {"/state": 1, "/pose": 10, "/events": 250, "/scene": 1000}
COUNTS = {topic: STATES // every for topic, every in EVERY.items()}


def check(value, wanted, what):
    if value != wanted:
        sys.exit(f"{what}: read {value!r}, wanted {wanted!r}")


def check_state(k, m):
    check(m.tick, k, "tick")
    check(m.hash, k * 0x9E3779B97F4A7C15 % 2**64, "hash")
    check((m.position.x, m.position.y, m.position.z), (0.5 * k, -float(k), 1.0 / (k + 1)), "position")
    check(list(m.speeds), [k, k + 0.25, k + 0.5, k + 0.75], "speeds")
    check((m.offset, m.small, m.flying), (-k * 1000000007, 2500 - k, k % 2 == 1), "offset, small, flying")
    check(list(m.counts), [0, k, 4294967295], "counts")


def check_pose(k, m):
    check((m.timestamp.seconds, m.timestamp.nanos), divmod(k * PERIOD, 10**9), "timestamp")
    check(m.frame_id, "world", "frame_id")
    p, q = m.pose.position, m.pose.orientation
    check((p.x, p.y, p.z, q.x, q.y, q.z, q.w), (k, 0, -0.125 * k, 0, 0, 0, 1), "pose")


def check_scene(k, m):
    check(len(m.lines), 2, "lines")
    for i, line in enumerate(m.lines):
        check(line.DESCRIPTOR.fields_by_name["type"].enum_type.values_by_number[line.type].name,
              ["LINE_LOOP", "LINE_LIST"][i], "type")
        check([(p.x, p.y, p.z) for p in line.points], [(k + j, i, 0) for j in range(20)], "points")
        check((line.label, line.mesh), ("Flügel", b"\0\1\2"), "label, mesh")


def check_message(seen, topic, message, decoded):
    n = seen[topic]
    k = n * EVERY[topic]
    check(message.sequence, n, "sequence")
    check((message.log_time, message.publish_time), (k * PERIOD, k * PERIOD), "times")
    if topic == "/state":
        check_state(k, decoded)
    elif topic == "/pose":
        check_pose(k, decoded)
    elif topic == "/scene":
        check_scene(k, decoded)
    else:
        check((decoded.tick, decoded.text), (k, "mark ü ?(?"), "event")
    seen[topic] += 1


def read_indexed(path):
    with open(path, "rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        check((reader.get_header().profile, reader.get_header().library), ("", "volery test"), "header")
        summary = reader.get_summary()
        topics = {c.id: c.topic for c in summary.channels.values()}
        counts = {topics[i]: n for i, n in summary.statistics.channel_message_counts.items()}
        check(counts, COUNTS, "statistics")
        check({c.metadata["units"] for c in summary.channels.values()}, {"SI"}, "channel metadata")
        attachments = [(a.name, a.media_type, a.data) for a in reader.iter_attachments()]
        check(attachments, [("scenario.yaml", "application/yaml", b"volery: 1\n")], "attachments")
        metadata = [(m.name, m.metadata) for m in reader.iter_metadata()]
        check(metadata, [("run", {"seed": "42", "name": "Flügel"})], "metadata")

        seen = dict.fromkeys(COUNTS, 0)
        for _, channel, message, decoded in reader.iter_decoded_messages():
            check_message(seen, channel.topic, message, decoded)
        check(seen, COUNTS, "messages")
        # Through the index: one topic between two times.
        second = reader.iter_messages(["/pose"], starting_at=10**9, ending_before=2 * 10**9)
        found = [m.log_time for _, _, m in second]
        check(found, list(range(10**9, 2 * 10**9, 10 * PERIOD)), "poses of one second")


# Record by record, with the CRCs of chunks and data section; each message index must point at its messages, and
# each message must have its place in one.
def read_stream(path):
    ended = set()
    places = {}
    with open(path, "rb") as file:
        for record in StreamReader(file, emit_chunks=True, validate_crcs=True).records:
            if isinstance(record, MessageIndex):
                for time, at in record.records:
                    message = places.pop(at)
                    check((message.channel_id, message.log_time), (record.channel_id, time), "message index")
                continue
            check(len(places), 0, "messages without index")
            if isinstance(record, Chunk):
                messages = breakup_chunk(record, validate_crc=True)
                at = 0
                for message in messages:
                    places[at] = message
                    at += 31 + len(message.data)
                times = [m.log_time for m in messages]
                check((record.message_start_time, record.message_end_time), (min(times), max(times)), "times")
            elif isinstance(record, DataEnd):
                ended.add("data")
                assert record.data_section_crc != 0
            elif isinstance(record, Footer):
                ended.add("footer")
                assert record.summary_crc != 0
        check(ended, {"data", "footer"}, "end of the file")


# A file that was never closed: what its whole chunks hold can be read.
def read_torn(path):
    count = 0
    with open(path, "rb") as file:
        try:
            for record in StreamReader(file, emit_chunks=True).records:
                if isinstance(record, Chunk):
                    count += len(breakup_chunk(record, validate_crc=True))
        except Exception as error:  # the tear, however the package reports it
            print(f"torn file: {count} messages, then {type(error).__name__}")
    assert 0 < count < sum(COUNTS.values()), count


# A flight: protobuf alone decodes every message, and events say what happened.
def read_flight(path):
    count = 0
    events = []
    with open(path, "rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        for _, channel, message, decoded in reader.iter_decoded_messages():
            count += 1
            if channel.topic == "/events":
                check(message.log_time, round(decoded.time * 1e9), "time of an event")
                events.append((decoded.kind, decoded.drone, decoded.text))
        check(count, reader.get_summary().statistics.message_count, "decoded messages")
    check(("payload", "courier", "parcel is dropped") in events, True, "the drop")
    print(f"python mcap: flight: {count} messages, {len(events)} events")


def main():
    torn = sys.argv.index("--torn")
    for path in sys.argv[1:torn]:
        read_indexed(path)
        read_stream(path)
        print(f"python mcap: {path.rsplit('/', 1)[-1]}: {sum(COUNTS.values())} messages agree")
    read_torn(sys.argv[torn + 1])
    read_flight(sys.argv[torn + 2])


main()
