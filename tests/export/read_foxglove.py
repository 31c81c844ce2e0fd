"""read_foxglove.py LOG PLANET - the logs' Foxglove messages, read with Foxglove's own classes: the same fields under the same
numbers, and poses that are the truth's."""
import importlib
import math
import struct
import sys

from google.protobuf.descriptor_pb2 import FileDescriptorSet
from mcap.reader import make_reader

WANTED = {"FrameTransforms", "SceneUpdate", "PoseInFrame", "Log"}


def official(name):
    return getattr(importlib.import_module(f"foxglove_schemas_protobuf.{name}_pb2"), name)


def check_fields(schema):
    """Every field of every foxglove message in the log is the published one."""
    for file in FileDescriptorSet.FromString(schema.data).file:
        for message in file.message_type:
            if file.package != "foxglove":
                continue
            published = official(message.name).DESCRIPTOR.fields_by_name
            for field in message.field:
                theirs = published[field.name]
                assert (field.number, field.type) == (theirs.number, theirs.type), (message.name, field.name)
                assert (field.label == field.LABEL_REPEATED) == theirs.is_repeated, (message.name, field.name)
            assert message.field, message.name


def truth_position(data):
    """The first field of volery.Truth: a Vec3 of three doubles with a tag byte before each."""
    return struct.unpack("<xdxdxd", data[2:29])


truth, poses, frames, seen, shapes, lines = {}, {}, {}, set(), [], []
with open(sys.argv[1], "rb") as file:
    for schema, channel, message in make_reader(file).iter_messages():
        name = schema.name.removeprefix("foxglove.")
        if channel.topic == "/drones/alpha/truth":
            truth[message.log_time] = truth_position(message.data)
        if not schema.name.startswith("foxglove."):
            continue
        if name not in seen:
            check_fields(schema)
            seen.add(name)
        decoded = official(name).FromString(message.data)
        stamp = None if name in ("FrameTransforms", "SceneUpdate") else decoded.timestamp.ToNanoseconds()
        assert stamp in (None, message.log_time)
        if name == "PoseInFrame":
            assert decoded.frame_id == "world"
            poses[message.log_time] = decoded.pose.position
        if name == "FrameTransforms":
            frames[message.log_time] = decoded.transforms[0]
        if name == "SceneUpdate":
            shapes += decoded.entities
        if name == "Log":
            lines.append(decoded.message)

assert seen == WANTED, seen
assert len(poses) == len(frames) == 501
for time, position in poses.items():
    assert (position.x, position.y, position.z) == truth[time], time
    frame = frames[time]
    assert (frame.parent_frame_id, frame.child_frame_id) == ("world", "alpha")
    assert (frame.translation.x, frame.translation.y, frame.translation.z) == truth[time]
    norm = sum(getattr(frame.rotation, axis) ** 2 for axis in "xyzw")
    assert abs(norm - 1) < 1e-9
assert [shape.frame_id for shape in shapes] == ["alpha"] and shapes[0].frame_locked and len(shapes[0].cylinders) == 4
assert any("position_error" in line for line in lines)

# On a planet: where the drone is over the ground, in degrees.
places, fixes = {}, {}
with open(sys.argv[2], "rb") as file:
    for schema, channel, message in make_reader(file).iter_messages():
        if schema.name == "volery.Geodetic":
            places[message.log_time] = struct.unpack("<xdxdxd", message.data[:27])
        if schema.name == "foxglove.LocationFix":
            check_fields(schema)
            fixes[message.log_time] = official("LocationFix").FromString(message.data)
common = fixes.keys() & places.keys()
assert len(common) > 100
for time in common:
    fix, (latitude, longitude, altitude) = fixes[time], places[time]
    assert abs(fix.latitude - math.degrees(latitude)) < 1e-12 and abs(fix.longitude - math.degrees(longitude)) < 1e-12
    assert fix.altitude == altitude and fix.timestamp.ToNanoseconds() == time
print("foxglove: frames, shapes, poses and lines as published, and where the truth is")
