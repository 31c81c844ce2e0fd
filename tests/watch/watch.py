#!/usr/bin/env python3
"""watch.py VOLERY ROOT - flights that are watched, as browsers, Foxglove and strangers would: hash, refusals, hostile clients, pace."""
import base64
import json
import os
import signal
import socket
import struct
import subprocess
import time

import viewer as told_by
from viewer import PATIENCE, ROOT, VOLERY, Flight, Viewer, check, hash_of


def positions_of(log):
    done = subprocess.run([VOLERY, "export", log, "--csv", "--fields", "body.position"], capture_output=True, text=True, timeout=PATIENCE)
    rows = [line.split(",") for line in done.stdout.splitlines()[1:]]
    return [(round(float(row[0]) * 1e9), *map(float, row[1:4])) for row in rows]


def vector(data):
    """x, y, z of a message of doubles, each behind a byte with its number."""
    found, at = {}, 0
    while at < len(data):
        found[data[at] >> 3] = struct.unpack("<d", data[at + 1:at + 9])[0]
        at += 9
    return tuple(found.get(i, 0.0) for i in (1, 2, 3))


def fields(data):
    """Field numbers of a protobuf message with their bytes."""
    at, out = 0, []

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            out.append((tag >> 3, varint()))
            continue
        size = {1: 8, 5: 4}[tag & 7] if tag & 7 != 2 else varint()
        out.append((tag >> 3, data[at:at + size]))
        at += size
    return out


def field_number(schema, name):
    """The number of a field, from the schema that was advertised: names and numbers lie side by side in its descriptor."""
    for _, file in fields(base64.b64decode(schema["schema"])):
        package = next((v.decode() for n, v in fields(file) if n == 2), "")
        for n, message in fields(file):
            parts = fields(message) if n == 4 else []
            if f"{package}.{next((v.decode() for k, v in parts if k == 1), '')}" != schema["schemaName"]:
                continue
            for k, field in parts:
                own = dict(fields(field)) if k == 2 else {}
                if own.get(1) == name.encode():
                    return own[3]
    check("a field is in its schema", False, name)
    return 0


def check_same(what, name, *more):
    """The flight that was watched is the one that nobody watches: the hash of every step, and all messages (chunks follow the clock)."""
    subprocess.run([VOLERY, "run", name, "-q", "-o", "plain.mcap", *more], check=True, timeout=PATIENCE)
    done = subprocess.run([VOLERY, "diff", "watched.mcap", "plain.mcap"], capture_output=True, text=True, timeout=PATIENCE)
    check(what, done.returncode == 0 and hash_of("watched.mcap") == hash_of("plain.mcap"), done.stdout)


def test_same_log():
    """The log is the same with viewers as without, step for step, and what they get is the log's."""
    flight = Flight("first-flight")
    viewers = [Viewer(flight), Viewer(flight, "?history")]
    for viewer in viewers:
        viewer.say(op="subscribeParameterUpdates", parameterNames=[])
    viewers[1].subscribe()
    viewers[0].subscribe("/drones/alpha/truth", "/scene")
    for viewer in viewers:
        viewer.watch_to_end()
        check("the end is told", viewer.code == 1001)
        last = [t for t in viewer.told if t["op"] == "parameterValues"][-1]
        values = {p["name"]: p["value"] for p in last["parameters"]}
        check("status", values["/flight/status"] == "completed", values)
        viewer.hash = values["/flight/hash"]
    flight.end()
    check_same("the log with viewers", "first-flight")
    check("the hash is told", all(v.hash == hash_of("watched.mcap") for v in viewers))
    truth = viewers[1].channels["/drones/alpha/truth"]
    number = field_number(truth, "position")
    seen = [(time, *vector(dict(fields(data))[number])) for time, data in viewers[1].of("/drones/alpha/truth")]
    wanted = positions_of("watched.mcap")
    check("positions are the log's", seen == wanted[1:], f"{len(seen)} {len(wanted)} {seen[:2]} {wanted[:3]}")
    check("who comes late has the shapes", len(viewers[0].of("/scene")[0][1]) > 100)
    check("only what was asked for", set(viewers[0].messages) == {1000 + viewers[0].channels[t]["id"] for t in ("/drones/alpha/truth", "/scene")})


def test_refusals():
    """Without the token, from another site or by another name nobody is let in."""
    flight = Flight("first-flight")
    own, port = f"http://127.0.0.1:{flight.port}", flight.port
    for path in ("/", "/" + "0" * 32 + "/", f"/{flight.token[:-1]}/", f"/{flight.token}/x", f"/{flight.token}00/"):
        check("a wrong token", flight.get(path)[0] == 403, path)
        Viewer(flight, path=path, expect=403)
    for host in ("127.0.0.1", f"evil.example:{port}", f"127.0.0.1:{port + 1}", f"127.0.0.1.evil.example:{port}", ""):
        check("a wrong host", flight.get(Host=host)[0] == 403, host)
        Viewer(flight, expect=403, Host=host or f"[::1]:{port}")
    for origin in ("https://evil.example", "null", f"https://127.0.0.1:{port}", f"{own}.evil.example", f"http://127.0.0.1:{port + 1}"):
        check("a wrong origin", flight.get(Origin=origin)[0] == 403, origin)
        Viewer(flight, expect=403, Origin=origin)
    check("no other method", flight.get(method="POST", body=b"x")[0] == 405)
    check("no other protocol", Viewer(flight, protocol="foxglove.websocket.v1", expect=400).channels == {})
    status, page = flight.get(Origin=own)
    check("the page", status in (200, 503), status)
    if status == 200:
        check("it may talk to this address alone", f"connect-src ws://127.0.0.1:{port} ws://localhost:{port}\"" in page)
        check("the token is not in it", flight.token not in page)
    Viewer(flight, Origin="https://app.foxglove.dev").socket.close()
    Viewer(flight, Origin=f"http://localhost:{port}", Host=f"localhost:{port}").socket.close()
    flight.process.send_signal(signal.SIGINT) # it waits for a viewer
    flight.end(130)
    check("what was interrupted replays", hash_of("watched.mcap"))


def test_addresses():
    """Where it was asked to listen, under the address that a viewer has reached it by, and nowhere else."""
    for asked, reached in (("127.0.0.2", "127.0.0.2"), ("0.0.0.0", "127.0.0.3")):
        flight = Flight("first-flight", "--address", asked)
        check("the address that was asked for", flight.host == ("127.0.0.1" if asked == "0.0.0.0" else asked) and flight.is_everywhere == (asked == "0.0.0.0"))
        if asked == "0.0.0.0":
            check("it is told that nothing is encrypted", "nothing is encrypted" in flight.process.stderr.readline())
        else:
            with socket.socket() as other:
                check("nowhere else", other.connect_ex(("127.0.0.1", flight.port)) != 0)
        flight.host = reached
        for name in ("127.0.0.1", "localhost", "127.0.0.4"):
            check("a wrong host", flight.get(Host=f"{name}:{flight.port}")[0] == 403, name)
            Viewer(flight, expect=403, Origin=f"http://{name}:{flight.port}")
        status, page = flight.get(Origin=f"http://{reached}:{flight.port}")
        check("the page", status in (200, 503), status)
        if status == 200:
            check("it may talk to this address alone", f"connect-src ws://{reached}:{flight.port}\"" in page)
        viewer = Viewer(flight)
        viewer.subscribe()
        viewer.watch_to_end()
        flight.end()
        check_same("the log with a viewer from elsewhere", "first-flight")


def test_hostile():
    """Garbage, floods, lies about sizes, silence: the flight and the others do not notice."""
    flight = Flight("first-flight")
    watched = Viewer(flight)
    for bytes_ in (b"\x00\xff" * 300, b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 3000, b"\r\n\r\n", b"GET /\r\n\r\n", b"A" * 20000):
        with socket.create_connection(("127.0.0.1", flight.port), timeout=PATIENCE) as stranger:
            try:
                stranger.sendall(bytes_)
                check("garbage is refused", stranger.recv(12) in (b"HTTP/1.1 400", b""))
            except ConnectionError:
                pass
    silent = [socket.create_connection(("127.0.0.1", flight.port), timeout=PATIENCE) for _ in range(3)]
    for break_it in (lambda v: v.send(1, b"{}", mask=False), lambda v: v.send(3, b""), lambda v: v.send(1 | 0x40, b""), lambda v: v.send(0, b"x"),
                     lambda v: v.send(9, b"x" * 126), lambda v: v.send(9, b"", last=False), lambda v: v.send(1, b"x", size=1 << 40),
                     lambda v: [v.send(1, b"[", last=False), v.send(1, b"]")]):
        viewer = Viewer(flight)
        break_it(viewer)
        check("who breaks the protocol goes", viewer.watch_to_end().code == 1002, viewer.code)
    odd = Viewer(flight)
    for text in (b"", b"[]", b"{", b'{"op":7}', b'{"op":"fly"}', b'{"op":"subscribe","subscriptions":[{"id":-1,"channelId":1e99}]}', b"[" * 1000, b"\xff" * 100,
                 b'{"op":"setParameters","parameters":[{"name":"/flight/speed","value":-1},{"name":"/flight/seed","value":1}]}'):
        odd.send(1, text)
    odd.send(9, b"still there")
    op, said = odd.read()
    levels = []
    while op == 1:
        levels.append(json.loads(said).get("level"))
        op, said = odd.read()
    check("odd messages are answered, and the viewer stays", (op, said) == (10, b"still there") and all(levels) and len(levels) >= 6, levels)
    odd.send(1, b'{"op":"getParam', last=False)
    odd.send(9, b"between")
    odd.send(0, b'eters","id":"q","parameterNames":["/flight/speed"]}')
    check("a ping between fragments", odd.read() == (10, b"between"))
    check("fragments", odd.hear()["parameters"] == [{"name": "/flight/speed", "type": "float64", "value": 0}])
    deaf = Viewer(flight)
    deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.subscribe()
    watched.subscribe("/drones/alpha/truth")
    watched.watch_to_end()
    check("the others see it end", watched.code == 1001)
    flight.end() # with the deaf one connected
    check_same("the log beside hostile viewers", "first-flight")
    for s in silent:
        s.close()


def test_overtaken():
    """Who does not read is overtaken, and told how many records went by; nobody waits for him."""
    arguments = ("swarm", "--set", "duration=300", "--set", "expect=[]")
    flight = Flight(*arguments)
    slow, quick = Viewer(flight), Viewer(flight)
    slow.subscribe()
    quick.subscribe("/drones/west/truth")
    quick.watch_to_end() # the whole flight, while the other reads nothing
    slow.watch_to_end()
    told = [t["message"] for t in slow.told if t["op"] == "status"]
    flight.end()
    dropped = int(told[-1].split()[0]) if told else 0
    got = sum(len(list_) for list_ in slow.messages.values())
    check("dropped records are told", slow.code is None or dropped > 0, told) # it may be too late to be told
    check_same("the log beside a slow viewer", *arguments)
    return dropped, got


def test_pace():
    """Pause, steps and speed change when steps are made, and nothing in them."""
    flight = Flight("first-flight")
    viewer = Viewer(flight)
    check("paused before the start", viewer.set(paused=True)["/flight/paused"] is True)
    viewer.subscribe("/drones/alpha/truth") # now it would begin
    viewer.set(steps=7)
    while viewer.ask(op="getParameters", parameterNames=[])["/flight/steps"] > 0:
        pass
    viewer.set(speed=1000)
    times = lambda: [time for time, _ in viewer.of("/drones/alpha/truth")]
    while len(times()) < 7:
        viewer.keep(*viewer.read())
    check("a step is ten of the flight", times() == [round(1e7 * k) for k in range(1, 8)], times())
    for name, value in (("speed", -1), ("speed", "fast"), ("steps", 0.5), ("steps", 0), ("paused", 1), ("hash", "0"), ("status", "done")):
        before = len(viewer.told)
        viewer.set(**{name: value})
        check("nonsense is refused", any(t["op"] == "status" and t["level"] == 2 for t in viewer.told[before:]), name)
    check("it is still there", len(times()) == 7 and viewer.ask(op="getParameters", parameterNames=[])["/flight/paused"] is True)
    viewer.set(paused=False)
    check("it goes on", viewer.watch_to_end().code == 1001)
    check("to its end", times()[-1] == 20 * 10**9 and len(times()) == 2000, len(times()))
    flight.end()
    check_same("the log of a flight that was paused", "first-flight")


def test_keys():
    """A drone is flown from the page: its replies are in the log, which replays without anybody."""
    flight = Flight("pilot", "--realtime", log="keys.mcap")
    viewer = Viewer(flight)
    values = viewer.set(paused=True)
    check("who can be flown is told", values.get("/drones/alpha/keys") == "", values)
    press = lambda name, keys: viewer.ask(op="setParameters", parameters=[{"name": name, "value": keys}])
    press("/drones/alpha/keys", "wwwd")
    before = len(viewer.told)
    press("/drones/nobody/keys", "w")
    check("nobody else's keys", any(t["op"] == "status" for t in viewer.told[before:]))
    viewer.subscribe("/replies")
    number = field_number(viewer.channels["/replies"], "throttle")
    viewer.set(speed=20, paused=False)
    while not viewer.of("/replies") or viewer.of("/replies")[-1][0] < viewer.of("/replies")[0][0] + 10**9:
        viewer.keep(*viewer.read())
    flight.process.send_signal(signal.SIGINT)
    viewer.watch_to_end()
    flight.end(130)
    table = subprocess.run([VOLERY, "export", "keys.mcap", "--csv", "--fields", "reply.throttle,reply.strafe"], capture_output=True, text=True, timeout=PATIENCE)
    rows = [line.split(",") for line in table.stdout.splitlines()[1:] if "" not in line.split(",")]
    check("the keys are in the log", {float(row[1]) for row in rows} <= {0.0, 3.0} and float(rows[-1][1]) == 3.0, table.stdout[-200:])
    check("a key holds its stick for half a second", {float(row[2]) for row in rows} == {0.0, 1.0}, table.stdout[-200:])
    check("the flight replays", hash_of("keys.mcap") and number > 0)
    scenario = subprocess.run([VOLERY, "replay", "keys.mcap", "--live"], capture_output=True, text=True, timeout=PATIENCE)
    check("the log names no pipe of a process that is gone", "/proc/self" not in scenario.stderr and b"/proc/self" not in open("keys.mcap", "rb").read())


def test_sticks():
    """A gamepad's sticks, in percent, between keys: as they are, and let go of half a second after the last."""
    flight = Flight("pilot", "--realtime", log="sticks.mcap")
    viewer = Viewer(flight)
    viewer.set(paused=True)
    viewer.ask(op="setParameters", parameters=[{"name": "/drones/alpha/keys", "value": "w(1 2 3)(0 0 0 101)(x)(" + "9" * 40 + ")(-25 50 100 40)"}])
    viewer.subscribe("/replies")
    viewer.set(steps=100)
    while not viewer.of("/replies") or viewer.of("/replies")[-1][0] < viewer.of("/replies")[0][0] + 9 * 10**8:
        viewer.keep(*viewer.read())
    flight.process.send_signal(signal.SIGINT)
    viewer.watch_to_end()
    flight.end(130)
    table = subprocess.run([VOLERY, "export", "sticks.mcap", "--csv", "--fields", "reply.throttle,reply.strafe,reply.vertical,reply.yaw"], capture_output=True, text=True, timeout=PATIENCE)
    rows = [[float(v) for v in line.split(",")] for line in table.stdout.splitlines()[1:] if "" not in line.split(",")]
    held = [row[0] for row in rows if row[1:] == [4, 1, 0.5, -0.25]]
    check("the sticks are in the log", held and all(row[1:] == [0, 0, 0, 0] for row in rows if row[0] not in held), rows[:3])
    check("for half a second", 0.4 < held[-1] - held[0] <= 0.5 and held[-1] < rows[-1][0], (held[0], held[-1], rows[-1][0]))
    check("the flight replays", hash_of("sticks.mcap"))


def test_injections():
    """A push, a gust and a fault: each is in the log, which replays and is gone on from without anybody; what cannot be is told."""
    flight = Flight("first-flight", "--set", "expect=[]", log="disturbed.mcap")
    viewer = Viewer(flight)
    values = viewer.set(paused=True)
    check("what can be injected is told", all(values.get(f"/inject/{what}") == "" for what in ("push", "gust", "fault")), values)
    viewer.subscribe("/drones/alpha/truth", "/events")
    inject = lambda what, **keys: viewer.ask(op="setParameters", parameters=[{"name": f"/inject/{what}", "value": json.dumps(keys)}])
    def step(count):
        end = len(viewer.of("/drones/alpha/truth")) + count
        viewer.set(steps=count)
        while len(viewer.of("/drones/alpha/truth")) < end:
            op, data = viewer.read()
            viewer.keep(op, data)
            if op == 1:
                viewer.told.append(json.loads(data))
    inject("push", drone="alpha", force=[0, 0.2, 0], duration=0.3) # before the first step: it waits
    step(100)
    inject("gust", velocity=[4, 0, 0], rise=0.2, hold=0.5)
    inject("fault", drone="alpha", kind="motor_weak", rotor=2, share=0.6, duration="0.4 s")
    step(100)
    for what, keys, words in (("push", {"drone": "bravo", "force": [1, 0, 0], "duration": 1}, "bravo"), ("fault", {"drone": "alpha", "kind": "sensor_delay", "channel": "gyro", "delay": 1}, "cannot be injected"),
                              ("gust", {"velocity": [1, 0, 0], "rise": 0}, "rise"), ("push", {"drone": "x" * 600}, "too long")):
        before = len(viewer.told)
        inject(what, **keys)
        step(1)
        told = []
        while not told: # what is said before an answer is kept
            viewer.set()
            told = [t["message"] for t in viewer.told[before:] if t["op"] == "status"]
        check("what cannot be is told", any(words in t for t in told), f"{words}: {told}")
    for _ in range(20): # more than wait at a time
        inject("push", drone="alpha", force=[0, 0, 1e-3], duration=0.01)
    check("too many are told", any("left out" in t.get("message", "") for t in viewer.told), viewer.told[-3:])
    viewer.set(paused=False)
    viewer.watch_to_end()
    flight.end()
    events = b"".join(data for _, data in viewer.of("/events"))
    for words in (b"push of 0.2 N (0, 0.2, 0) for 0.3 s", b"gust of 4 m/s (4, 0, 0), for 0.9 s", b"motor_weak for 0.4 s", b"motor_weak of rotor 2 ends"):
        check("it is an event", words in events, words)
    check("as many as wait at a time", events.count(b"push of 0.001 N") == 16, events.count(b"push of 0.001 N"))
    disturbed = hash_of("disturbed.mcap") # replays
    plain = subprocess.run([VOLERY, "run", "first-flight", "-q", "-o", "calm.mcap", "--set", "expect=[]"], timeout=PATIENCE)
    check("it is another flight", plain.returncode == 0 and hash_of("calm.mcap") != disturbed)
    # From a moment within the gust and the fault: what acted there acts on.
    branch = subprocess.run([VOLERY, "branch", "disturbed.mcap", "--at", "1.2", "-q", "-o", "gone_on.mcap"], capture_output=True, text=True, timeout=PATIENCE)
    check("it can be gone on from", branch.returncode == 0, branch.stderr)
    check("and that replays", hash_of("gone_on.mcap") != disturbed)
    row = lambda log: next(r for r in positions_of(log) if r[0] == 1900000000)
    check("with what acted at that moment", row("gone_on.mcap") == row("disturbed.mcap") != row("calm.mcap"), row("gone_on.mcap"))


def test_follow():
    """What another program records is watched as it grows, from its first record to its result; nothing of it can be set."""
    writer = Flight("first-flight", "--realtime", "--duration", "1000", "--set", "expect=[]", log="written.mcap")
    flight = Flight(log="written.mcap", command=[VOLERY, "watch", "written.mcap"])
    check("the page", flight.get()[0] == 200)
    viewer = Viewer(flight, "?history")
    viewer.say(op="subscribeParameterUpdates", parameterNames=[])
    viewer.subscribe()
    check("nothing can be set", viewer.set(paused=True) == {"/flight/status": "flying"} and any("only be watched" in t.get("message", "") for t in viewer.told))
    while len(viewer.of("/drones/alpha/truth")) < 150:
        viewer.keep(*viewer.read())
    writer.process.send_signal(signal.SIGINT)
    writer.end(130)
    viewer.watch_to_end()
    flight.end()
    times = [time for time, _ in viewer.of("/drones/alpha/truth")]
    check("every record once, in order", times == [row[0] for row in positions_of("written.mcap")], (len(times), times[-3:]))
    last = {p["name"]: p["value"] for p in [t for t in viewer.told if t["op"] == "parameterValues"][-1]["parameters"]}
    check("its result", last == {"/flight/status": "interrupted", "/flight/hash": hash_of("written.mcap")}, last)
    for arguments, words in ((["written.mcap"], "no program is writing it"), (["nowhere.mcap"], "nowhere.mcap"), ([], "which log?"), (["written.mcap", "--port", "x"], "--port needs")):
        done = subprocess.run([VOLERY, "watch", *arguments], capture_output=True, text=True, timeout=PATIENCE)
        check("volery watch: bad usage", done.returncode == 2 and words in done.stderr, f"{done.returncode} {done.stderr}")


def test_paced():
    """What another program flies and asks before its steps is paused, stepped, slowed and disturbed by viewers."""
    writer = Flight("first-flight", "--realtime", "--duration", "1000", "--set", "expect=[]", log="paced.mcap")
    flight = Flight(log="paced.mcap", command=[VOLERY, "watch", "--paced", "paced.mcap"])
    program = flight.process
    hear = lambda: program.stdout.readline().strip()

    def ask(line):
        program.stdin.write(f"{line}\n")
        program.stdin.flush()

    ask(0)
    check("as fast as it goes", hear() == "free")
    viewer = Viewer(flight)
    check("it can be paused", viewer.set(paused=True)["/flight/paused"] is True)
    ask(0.5)
    check("paused", hear() == "wait")
    check("two steps", viewer.set(steps=2)["/flight/paused"] is True)
    check("one", hear() == "go")
    ask(0.51)
    check("the other", hear() == "go")
    ask(0.52)
    check("no third", hear() == "wait")
    viewer.say(op="setParameters", parameters=[{"name": "/inject/push", "value": "{drone: alpha,\n force: [0, 1, 0], duration: 1}"}])
    check("an injection, in one line", hear() == "inject push {drone: alpha,  force: [0, 1, 0], duration: 1}")
    ask("refused alpha is elsewhere")
    while not any(t.get("message") == "alpha is elsewhere" for t in viewer.told):
        viewer.told.append(viewer.hear())
    viewer.set(speed=2)
    viewer.set(paused=False)
    check("it goes on", hear() == "go")
    begun = time.monotonic()
    for i in range(1, 41):
        ask(0.52 + 0.01 * i)
        check("at its pace", hear() == "go")
    check("half as long as the flight takes", 0.15 < time.monotonic() - begun, time.monotonic() - begun)
    ask("what?")
    check("a line that is neither", "--paced: a line is the time" in program.stderr.readline())
    writer.process.send_signal(signal.SIGINT)
    writer.end(130)
    flight.end()


def test_ends():
    """A signal, also while it is paused; a port that is taken; what makes no sense."""
    flight = Flight("first-flight", "--realtime")
    viewer = Viewer(flight, "?history")
    viewer.set(paused=True)
    viewer.say(op="subscribeParameterUpdates", parameterNames=[])
    viewer.subscribe()
    flight.process.send_signal(signal.SIGINT)
    viewer.watch_to_end()
    last = {p["name"]: p["value"] for p in [t for t in viewer.told if t["op"] == "parameterValues"][-1]["parameters"]}
    check("Ctrl-C is told", last["/flight/status"] == "interrupted" and viewer.code == 1001, last)
    flight.end(130)
    check("it replays", hash_of("watched.mcap") == last["/flight/hash"])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused([ "--watch", "--port", str(taken.getsockname()[1])], "cannot be had: Address already in use")
    refused(["--port", "80"], "--port goes with --watch")
    refused(["--address", "127.0.0.1"], "--address goes with --watch")
    refused(["--watch", "--address", "here"], "--address needs an IPv4 address of this machine, got here")
    refused(["--watch", "--address", "192.0.2.1"], "of 192.0.2.1 cannot be had")
    refused(["--watch", "--port", "65536"], "--port needs a whole number from 0 to 65535, got 65536")
    refused(["--watch", "--no-log"], "it needs one in a file")


def refused(arguments, words):
    output = [] if "--no-log" in arguments else ["-o", "refused.mcap"]
    done = subprocess.run([VOLERY, "run", "first-flight", *output, *arguments], capture_output=True, text=True, timeout=PATIENCE)
    check("bad usage", done.returncode == 2 and words in done.stderr and not os.path.exists("refused.mcap"), f"{done.returncode} {done.stderr}")


test_same_log()
test_refusals()
test_addresses()
test_hostile()
dropped, got = test_overtaken()
test_pace()
test_keys()
test_sticks()
test_injections()
test_follow()
test_paced()
test_ends()
print(f"watch: ok, {told_by.checks} checks; a viewer that did not read was sent {got} records, {dropped} were dropped")
