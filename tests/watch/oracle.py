#!/usr/bin/env python3
"""oracle.py VOLERY ROOT - what Foxglove's own server (foxglove-sdk of PyPI) says over the wire, and what a watched flight says: the same.

One client that knows neither speaks to both: greeting, channels, messages and time to the byte, parameters with their types, refusals.
"""
import base64
import json

import foxglove
from foxglove.websocket import Capability, Parameter

import viewer
from viewer import Flight, Viewer, check

TOPIC = "/drones/alpha/truth"
VALUES = {"/flight/paused": True, "/flight/speed": 0.0, "/flight/status": "flying", "/inject/push": ""}


class Listener:
    """A server with the parameters of a flight."""

    def on_get_parameters(self, client, names, request=None):
        return [Parameter(name, value=value) for name, value in VALUES.items() if not names or name in names]

    def on_set_parameters(self, client, parameters, request=None):
        return parameters

    def __getattr__(self, name):
        return lambda *_: None


class Server:
    """Where the oracle is, as a Flight says it."""

    def __init__(self, server):
        self.host, self.port, self.token = "127.0.0.1", server.port, ""


def kinds(value):
    return {key: type(item).__name__ for key, item in value.items()}


def answer(client, **what):
    """The whole answer to a question, as it came."""
    client.say(**what, id="q")
    while True:
        said = client.hear()
        if said.get("id") == "q":
            return said


def parameters(said, *names):
    return sorted((p for p in said["parameters"] if p["name"] in names), key=lambda p: p["name"])


foxglove.set_log_level("CRITICAL")  # what it is told wrong here it would print
flight = Flight("first-flight", log="oracle.mcap")
ours = Viewer(flight)
ours.say(op="setParameters", parameters=[{"name": "/flight/paused", "value": True}])
channel = ours.channels[TOPIC]
schema = foxglove.Schema(name=channel["schemaName"], encoding=channel["schemaEncoding"], data=base64.b64decode(channel["schema"]))
theirs_channel = foxglove.Channel(TOPIC, schema=schema, message_encoding=channel["encoding"])
server = foxglove.start_server(name="oracle", host="127.0.0.1", port=0, capabilities=[Capability.Time, Capability.Parameters], server_listener=Listener())
theirs = Viewer(Server(server), path="/")

# Greeting and channels.
check("serverInfo: what it has", kinds(ours.info).items() >= {k: v for k, v in kinds(theirs.info).items() if k != "metadata"}.items(), f"{ours.info} {theirs.info}")
check("serverInfo: what it can", set(theirs.info["capabilities"]) <= set(ours.info["capabilities"]), f"{ours.info} {theirs.info}")
other = theirs.channels[TOPIC]
check("a channel", {k: v for k, v in channel.items() if k != "id"} == {k: v for k, v in other.items() if k != "id"}, f"{channel.keys()} {other}"[:500])

# Parameters, with their types.
names = ["/flight/paused", "/flight/speed", "/flight/status"]
pair = [answer(c, op="getParameters", parameterNames=names) for c in (ours, theirs)]
check("parameters", parameters(pair[0], *names) == parameters(pair[1], *names) and pair[0].keys() == pair[1].keys(), f"{pair}")
for name, value in (("/flight/speed", 2), ("/flight/speed", 2.5), ("/flight/paused", True)):
    pair = [answer(c, op="setParameters", parameters=[{"name": name, "value": value, **({"type": "float64"} if name.endswith("speed") else {})}]) for c in (ours, theirs)]
    check("a parameter that was set", parameters(pair[0], name) == parameters(pair[1], name), f"{pair}")

# Messages and time, to the byte: what the flight has sent, the oracle sends.
ours.say(op="subscribe", subscriptions=[{"id": 77, "channelId": channel["id"]}])
theirs.say(op="subscribe", subscriptions=[{"id": 77, "channelId": other["id"]}])
ours.say(op="setParameters", parameters=[{"name": "/flight/steps", "value": 3}])
sent, clocks = [], []
while len(sent) < 3 or len(clocks) < 1:
    op, data = ours.read()
    if op == 2:
        (sent if data[0] == 1 else clocks).append(data)
answer(theirs, op="getParameters", parameterNames=names)  # by then it has subscribed
for data in sent:
    theirs_channel.log(data[13:], log_time=int.from_bytes(data[5:13], "little"))
server.broadcast_time(int.from_bytes(clocks[-1][1:], "little"))
got = []
while len(got) < 4:
    op, data = theirs.read()
    if op == 2:
        got.append(data)
check("messages to the byte", [d for d in got if d[0] == 1] == sent, f"{[d[:20] for d in got]} {[d[:20] for d in sent]}")
check("time to the byte", [d for d in got if d[0] == 2] == clocks[-1:], f"{got} {clocks[-1]}")

# What neither knows is answered, and nobody is thrown out.
for text in (b'{"op":"dance"}', b"[]", b"no JSON"):
    said = []
    for client in (ours, theirs):
        client.send(1, text)
        while True:
            told = client.hear()
            if told["op"] == "status":
                break
        said.append(told)
    check("a status", kinds(said[0]) == kinds(said[1]), f"{text} {said}")
for client, path in ((flight, None), (Server(server), "/")):
    Viewer(client, expect=400, path=path, protocol="foxglove.websocket.v1")

ours.say(op="setParameters", parameters=[{"name": "/flight/speed", "value": 0}, {"name": "/flight/paused", "value": False}])
ours.watch_to_end()
flight.end()
server.stop()
print(f"oracle: ok, {viewer.checks} checks against foxglove-sdk {foxglove.__version__ if hasattr(foxglove, '__version__') else ''}")
