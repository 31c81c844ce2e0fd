"""read_plotjuggler.py LOG CSV - the log as PlotJuggler takes it: a series for each number of each protobuf message, called
/topic/field/part or /topic/list[i], at the message's log time. Its parser builds a pool from the schema alone, takes a
field called timestamp for seconds, and leaves out lists of more than 500 and texts of more than 100."""
import csv
import math
import sys

from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from mcap.reader import make_reader

LIST_MAX = 500
NUMBERS = {"double", "float", "uint32", "uint64", "int32", "int64", "bool"}
KINDS = {1: "int32", 2: "int64", 3: "uint32", 4: "uint64", 5: "double", 6: "float", 7: "bool", 8: "enum", 9: "string", 10: "message"}


def message_class(schema):
    """From the schema alone: every file that another needs is in it, before it."""
    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString(schema.data).file:
        pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName(schema.name))


def take(message, prefix, time, series):
    for field in message.DESCRIPTOR.fields:
        values = getattr(message, field.name)
        name = f"{prefix}/{field.name}"
        assert not field.is_repeated or len(values) <= LIST_MAX, name
        named = [(f"{name}[{i}]", value) for i, value in enumerate(values)] if field.is_repeated else [(name, values)]
        for full, value in named:
            kind = KINDS[field.cpp_type]
            if kind == "message":
                take(value, full, time, series)
            elif kind in NUMBERS:
                series.setdefault(full, []).append((time, float(value)))


series, classes, without = {}, {}, set()
with open(sys.argv[1], "rb") as file:
    for schema, channel, message in make_reader(file).iter_messages():
        if channel.message_encoding != "protobuf" or not schema.name.startswith("volery."):
            continue
        if schema.name not in classes:
            classes[schema.name] = message_class(schema)
            assert "timestamp" not in classes[schema.name].DESCRIPTOR.fields_by_name, schema.name
        before = len(series)
        take(classes[schema.name].FromString(message.data), channel.topic, message.log_time / 1e9, series)
        if len(series) > before:
            without.discard(channel.topic)
        elif not any(name.startswith(channel.topic + "/") for name in series):
            without.add(channel.topic)
assert not without, f"nothing to plot: {without}"

with open(sys.argv[2], newline="") as file:
    rows = list(csv.DictReader(file))
for column, name in [("body.position.x", "truth/position/x"), ("body.attitude.w", "truth/attitude/w"),
                     ("rotor_speed[2]", "truth/rotor_speed[2]"), ("estimate.velocity.z", "estimate/velocity/z")]:
    said = series[f"/drones/alpha/{name}"]
    assert len(said) == len(rows), name
    for (time, value), row in zip(said, rows):
        assert math.isclose(time, float(row["time"]), abs_tol=1e-9) and value == float(row[column]), (name, time)
print(f"plotjuggler: {len(series)} series, values as in the table")
