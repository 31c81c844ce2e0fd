"""read_foxglove.py LOG PLANET GROUND SCENE - the logs' Foxglove messages, read with Foxglove's own classes: the same fields under
the same numbers, and poses that are the truth's."""
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
# Obstacles of every kind, where they stand; the ground is a surface.
entities = {}
with open(sys.argv[3], "rb") as file:
    for schema, channel, message in make_reader(file).iter_messages(topics=["/scene"]):
        for entity in official("SceneUpdate").FromString(message.data).entities:
            assert entity.id not in entities
            entities[entity.id] = entity
assert list(entities) == ["alpha", "crate"] + [f"obstacle {i}" for i in range(6)], list(entities)
assert {entities[name].frame_id for name in entities if name.startswith("obstacle")} == {"world"}
box, tower, ball, pill, rock, slope = [entities[f"obstacle {i}"] for i in range(6)]
at = lambda pose: (pose.position.x, pose.position.y, pose.position.z)
sides = lambda size: (size.x, size.y, size.z)
assert at(box.cubes[0].pose) == (6, 1, 3.5) and sides(box.cubes[0].size) == (1, 1, 1)
assert sides(tower.cylinders[0].size) == (0.6, 0.6, 2) and tower.cylinders[0].top_scale == 1
assert sides(ball.spheres[0].size) == (0.8, 0.8, 0.8)
ends = [at(sphere.pose) for sphere in pill.spheres]
assert len(pill.cylinders) == 1 and abs(math.dist(*ends) - 0.8) < 1e-12 and ends[0][2] != ends[1][2]
assert abs(ends[0][1] - (0.5 - 0.4 * math.sin(math.radians(60)))) < 1e-12  # it leans by 60 degrees about x
assert sides(entities["crate"].cubes[0].size) == (0.4, 0.2, 0.1) and entities["crate"].frame_id == "crate"


def outward(triangles, middle):
    """Each triangle is counter-clockwise seen from outside."""
    points = [(p.x, p.y, p.z) for p in triangles.points]
    for i in range(0, len(triangles.indices), 3):
        a, b, c = [points[k] for k in triangles.indices[i : i + 3]]
        u, v = [[q - p for p, q in zip(a, other)] for other in (b, c)]
        normal = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
        assert sum(n * (p - m) for n, p, m in zip(normal, a, middle)) > 0, i


outward(rock.triangles[0], (0.4, 0.4, 0.2))
outward(slope.triangles[0], (4, 2, -9))
assert len(slope.triangles[0].points) == 15 and len(slope.triangles[0].indices) == 48
assert all(point.z == point.x / 2 for point in slope.triangles[0].points)

# Joints, plumes and rays, by the frames and the scenario alone.
frames, moving, thrusts = {}, {}, {}
with open(sys.argv[4], "rb") as file:
    for schema, channel, message in make_reader(file).iter_messages():
        if channel.topic == "/tf":
            transforms = official("FrameTransforms").FromString(message.data).transforms
            frames[message.log_time] = {frame.child_frame_id: frame for frame in transforms}
        if channel.topic == "/scene":
            for entity in official("SceneUpdate").FromString(message.data).entities:
                moving.setdefault(entity.id, {})[message.log_time] = entity
        if channel.topic == "/drones/jet/thrusters":
            thrusts[message.log_time] = struct.unpack("<3d", message.data[2:26])  # packed, the first field


def turn(q, v):
    """A vector by a quaternion x, y, z, w."""
    t = [2 * (q.y * v[2] - q.z * v[1]), 2 * (q.z * v[0] - q.x * v[2]), 2 * (q.x * v[1] - q.y * v[0])]
    u = (q.y * t[2] - q.z * t[1], q.z * t[0] - q.x * t[2], q.x * t[1] - q.y * t[0])
    return [a + q.w * b + c for a, b, c in zip(v, t, u)]


def place(time, name, point):
    """A point of a drone's frame in the world."""
    frame = frames[time][name]
    at = (frame.translation.x, frame.translation.y, frame.translation.z)
    return [a + b for a, b in zip(at, turn(frame.rotation, point))]


near = lambda a, b: math.dist(a, b) < 1e-9
points_of = lambda line: [(p.x, p.y, p.z) for p in line.points]
slack = 0
for time, entity in moving["joints"].items():
    rope, hinge = [points_of(line) for line in entity.lines]
    assert entity.frame_id == "world" and near(rope[0], place(time, "alpha", (0, 0, -0.05)))
    assert near(rope[-1], place(time, "load", (0, 0, 0)))
    length = sum(math.dist(a, b) for a, b in zip(rope, rope[1:]))
    assert abs(length - 1) < 1e-3, (time, length)
    if len(rope) > 2:
        slack += 1
        assert math.dist(rope[0], rope[-1]) < 0.9991 and min(p[2] for p in rope) < rope[-1][2]
    assert hinge[0] == hinge[1] == (0, -3, 2) and near(hinge[2], hinge[1]) and near(hinge[3], place(time, "flap", (0, 0, 0)))
assert len(moving["joints"]) == 51 and 3 < slack < 40, slack

nozzles, axes, thrust_max = [(0.4, 0, -0.3), (-0.4, 0, -0.3), (0, 0.5, 0)], [(0, 0, 1), (0, 0, 1), (0, -1, 0)], [150, 150, 20]
for time, entity in moving["jet thrusters"].items():
    assert entity.frame_id == "jet" and entity.frame_locked
    shares = [thrust / full for thrust, full in zip(thrusts[time], thrust_max)]
    burning = [k for k in range(3) if shares[k] > 0.01]
    assert burning and len(entity.cylinders) == len(burning)
    for k, cone in zip(burning, entity.cylinders):
        way = turn(cone.pose.orientation, (0, 0, 0.5 * cone.size.z))
        base = [a - b for a, b in zip(at(cone.pose), way)]
        assert cone.bottom_scale == 1 and cone.top_scale == 0 and near(base, nozzles[k])
        assert near([2 * w / cone.size.z for w in way], [-a for a in axes[k]])
        assert abs(cone.size.z / shares[k] - 1.1 * 0.5) < 1e-9  # the farthest nozzle is half a metre out
assert len(moving["jet thrusters"]) == 50 and any(len(e.cylinders) == 3 for e in moving["jet thrusters"].values())

seen_wall = 0
for name, delay in (("range", 0), ("lidar", 100_000_000)):
    for time, entity in moving[f"alpha {name}"].items():
        looked = entity.timestamp.ToNanoseconds()
        assert entity.frame_id == "alpha" and not entity.frame_locked and 0 <= time - looked - delay < 50_000_000
        for line in entity.lines:
            points = points_of(line)
            assert list(line.indices) == [k for i in range(1, len(points)) for k in (0, i)] and line.type == line.LINE_LIST
            for end in [place(looked, "alpha", p) for p in points[1:]] if looked in frames else []:
                ball = place(looked, "load", (0, 0, 0))
                wall = abs(end[0] - 3.9) < 1e-9 and abs(end[1]) <= 4 and 0 <= end[2] <= 4
                seen_wall += wall
                assert wall or abs(end[2]) < 1e-9 or abs(math.dist(end, ball) - 0.05) < 1e-6, (time, end)
assert len(moving["alpha range"]) == 50 and len(moving["alpha lidar"]) == 38 and seen_wall > 100, seen_wall
print("foxglove: frames, shapes, obstacles, joints, plumes, rays, poses and lines as published, and where the truth is")
