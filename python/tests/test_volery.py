"""Tests of the package; run by tests/python_test.sh. Plain functions: test_NAME() fails by an exception. Names as arguments choose some."""

from __future__ import annotations

import copy
import gc
import json
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Callable

import gymnasium as gym
import numpy as np
import volery
import volery.bench as volery_bench
from checks import raises, run, together
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from volery.envs import ScenarioEnv

HOVER = "volery: 1\nduration: 1 s\ndrones:\n  - name: a\n    vehicle: crazyflie2x\n"
TASKS = ("Hover", "Waypoints", "Track", "Race", "Swarm")


def test_world_injects() -> None:
    disturbed, calm = volery.World(HOVER), volery.World(HOVER)
    raises(volery.Error, "declare it", lambda: disturbed.inject("gust", velocity=[1, 0, 0]))
    calm.step(500)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "run.mcap"
        with disturbed.record(log):
            disturbed.step(100)
            disturbed.inject("push", drone="a", force=[0, 0.05, 0], duration="0.2 s")
            disturbed.inject("fault", drone="a", kind="motor_weak", rotor=1, share=0.9)
            disturbed.step(400)
        assert volery.replay(log) is None
    assert disturbed.hash != calm.hash and disturbed.state().position[1] != calm.state().position[1]
    gone_on = copy.copy(disturbed)  # with the fault, which still acts
    assert gone_on.step(200) == disturbed.step(200) and gone_on.hash == disturbed.hash
    raises(volery.Error, "no drone is called", lambda: disturbed.inject("push", drone="b", force=[1, 0, 0], duration=1))
    raises(volery.Error, "push, gust and fault can", lambda: disturbed.inject("slap"))


def test_recording_is_watched() -> None:
    command = os.environ.get("VOLERY_COMMAND", "")
    if not command:
        return
    before = os.environ["PATH"]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "run.mcap"
        try:
            os.environ["PATH"] = str(Path(command).parent)
            world = volery.World(HOVER)
            with world.record(log, watch=True) as recording:
                world.step(100)
                with urllib.request.urlopen(str(recording.address)) as page:
                    assert page.status == 200
            assert recording._server is not None and recording._server.wait(60) == 0  # it ends with the recording
        finally:
            os.environ["PATH"] = before


class Watcher:
    """Sets parameters of a flight that is watched, over the WebSocket of Foxglove's protocol."""

    def __init__(self, address: str) -> None:
        host, token = address.removeprefix("http://").strip("/").split("/")
        name, port = host.split(":")
        self.socket = socket.create_connection((name, int(port)))
        head = {"Host": host, "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": "dm9sZXJ5IHZvbGVyeSAhIQ==",
                "Sec-WebSocket-Version": "13", "Sec-WebSocket-Protocol": "foxglove.sdk.v1"}
        lines = [f"GET /{token}/ HTTP/1.1", *(f"{key}: {value}" for key, value in head.items())]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        assert self.socket.recv(64).startswith(b"HTTP/1.1 101 ")

    def set(self, name: str, value: object) -> None:
        data = json.dumps({"op": "setParameters", "parameters": [{"name": name, "value": value}]}).encode()
        mask = b"mask"
        self.socket.sendall(bytes([0x81, 0xFE]) + len(data).to_bytes(2, "big") + mask + bytes(c ^ mask[i % 4] for i, c in enumerate(data)))


def test_watched_world_is_paced() -> None:
    command = os.environ.get("VOLERY_COMMAND", "")
    if not command:
        return
    calm = volery.World(HOVER, seed=5)
    calm.step(900)
    before = os.environ["PATH"]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "run.mcap"
        try:
            os.environ["PATH"] = str(Path(command).parent)
            for push in ("", "{drone: a, force: [0, 0.01, 0], duration: 0.1}", "{drone: nobody, force: [1, 0, 0], duration: 1}"):
                world = volery.World(HOVER, seed=5)

                def stands(at: int) -> bool:
                    until = time.monotonic() + 60
                    while world.tick != at and time.monotonic() < until:
                        time.sleep(0.01)
                    time.sleep(0.1)
                    return world.tick == at

                with world.record(log, watch=True) as recording:
                    watcher = Watcher(str(recording.address))
                    world.step(95)  # nobody holds it up
                    watcher.set("/flight/paused", True)
                    time.sleep(0.5)
                    flown = threading.Thread(target=lambda: [world.step(1) for _ in range(805)])
                    flown.start()
                    assert stands(100), world.tick
                    watcher.set("/flight/steps", 3)
                    assert stands(130), world.tick
                    if push:
                        watcher.set("/inject/push", push)
                    watcher.set("/flight/speed", 2)
                    began = time.monotonic()
                    watcher.set("/flight/paused", False)
                    flown.join(60)
                    assert world.tick == 900 and time.monotonic() - began > 0.3  # 0.77 s of the flight
                assert volery.replay(log) is None
                assert (world.hash == calm.hash) == ("drone: a" not in push)
        finally:
            os.environ["PATH"] = before


def test_world_steps_saves_and_restores() -> None:
    world = volery.World(HOVER, seed=5)
    world.step(100)
    kept, before = world.save(), world.hash
    world.step(200)
    after = world.hash
    world.restore(kept)
    assert world.tick == 100 and world.hash == before
    world.step(200)
    assert world.hash == after and world.failure is None
    assert abs(world.time - 0.3) < 1e-12
    assert np.linalg.norm(world.state().position - [0.0, 0.0, 1.0]) < 0.1
    raises(volery.Error, "snapshot", lambda: world.restore(kept[:-8]))
    raises(IndexError, "drone 3", lambda: world.state(3))


def test_a_world_tells_samples_joints_contacts_and_events() -> None:
    world = volery.World(HOVER + ("    sensors: {imu: {period: 1 ms}, baro: {period: 20 ms}}\n"
                                  "bodies: [{name: load, mass: 5 g, inertia: [1e-6, 1e-6, 1e-6], position: [0, 0, 0.7]}]\n"
                                  "joints: [{name: rope, kind: cable, a: a, b: load, length: 0.3}]\n"))
    assert "baro.altitude" not in world.samples() and world.samples()["time"] == 0.0  # nothing has been measured
    world.step(500)
    samples = world.samples("a")
    assert samples["imu.tick"] == samples["tick"] == 500 and samples["baro.tick"] in (480, 500) and samples["dt"] == 1e-3
    assert samples["imu.gyro"].shape == (3,) and abs(samples["imu.accel"][2] - 9.8) < 3 and abs(samples["baro.altitude"] - 1) < 3
    assert np.allclose(samples["estimate.position"], world.state().position, atol=0.5) and not [name for name in samples if name.startswith("gps.")]
    rope = world.joint("rope")
    assert world.scenario.joints == ["rope"] and rope.active and abs(rope.length - 0.3) < 1e-9 and abs(rope.tension - 0.005 * 9.8) < 0.02
    assert abs(np.linalg.norm(world.body("load").position - world.state().position) - rope.length) < 1e-12
    raises(IndexError, "there is no joint line; there are rope", lambda: world.joint("line"))
    raises(IndexError, "there is no joint 1", lambda: world.joint(1))
    raises(IndexError, "there is no drone 1", lambda: world.samples(1))
    falls = volery.World(HOVER + "    start: {position: [5, 0, 1]}\nbodies: [{name: ball, mass: 1, shape: {kind: sphere, radius: 0.1}, position: [0, 0, 0.35]}]\n"
                         "obstacles: [{name: table, kind: box, size: [2, 2, 0.2], position: [0, 0, -0.1]}]\n")
    seen = 0
    while not volery.Event(seen) & volery.Event.CONTACT:
        seen = falls.step()
    row = falls.contacts()[0]
    assert abs(falls.time - (2 * 0.25 / 9.80665) ** 0.5) < 2e-3 and row["phase"] == volery.Phase.BEGIN and row["impulse"][2] > 2.0
    assert (row["body"], row["other"], row["obstacle"]) == (1, -1, 0) and falls.scenario.obstacles == ["table"]
    assert np.allclose(row["normal"], [0, 0, 1]) and abs(row["speed"] - (2 * 9.80665 * 0.25) ** 0.5) < 0.02 and repr(volery.Event(seen)).find("CONTACT") > 0


def test_state_is_set() -> None:
    world = volery.World(HOVER, seed=5)
    world.step(100)
    before = world.state()
    world.set_state("a", position=[1, 2, 3], attitude=[2, 0, 0, 0], rotor_speed=1000)
    now = world.state()
    assert np.array_equal(now.position, [1, 2, 3]) and np.array_equal(now.attitude, [1, 0, 0, 0])
    assert np.array_equal(now.velocity, before.velocity) and np.array_equal(now.rotor_speed[:4], [1000] * 4)
    world.set_state(0, rotor_speed=[1, 2, 3, 4], rate=[0, 0, 1])
    assert np.array_equal(world.state().rotor_speed[:4], [1, 2, 3, 4]) and world.state().rate[2] == 1
    world.step(10)
    raises(volery.Error, "position has 3 values", lambda: world.set_state(position=[1, 2]))
    raises(volery.Error, "rotor_speed has 4 values or one", lambda: world.set_state(rotor_speed=[1, 2]))
    raises(volery.Error, "must be finite", lambda: world.set_state(velocity=[0, 0, float("nan")]))
    raises(volery.Error, "within 0 and 2500 rad/s", lambda: world.set_state(rotor_speed=1e6))
    raises(IndexError, "drone 3", lambda: world.set_state(3))
    with tempfile.TemporaryDirectory() as folder, world.record(Path(folder) / "a.mcap"):
        raises(volery.Error, "recorded", lambda: world.set_state(position=[0, 0, 1]))


def test_integrator_changes_in_flight() -> None:
    world = volery.World(HOVER, seed=5)
    assert world.integrator == "rk4"
    world.step(100)
    world.integrator = "lie-midpoint"
    kept = world.save()
    world.step(50)
    after = world.hash
    world.integrator = "euler"
    world.restore(kept)
    assert world.integrator == "lie-midpoint"
    world.step(50)
    assert world.hash == after
    raises(volery.Error, "no integrator verlet", lambda: setattr(world, "integrator", "verlet"))
    declared = volery.World(HOVER, settings={"world.physics.integrator": "semi-implicit"})
    assert declared.integrator == "semi-implicit"


def test_errors_carry_the_library_s_words() -> None:
    raises(volery.Error, "unknown key", lambda: volery.World("volery: 1\nwings: 2\n"))
    raises(volery.Error, "nowhere.yaml", lambda: volery.World("nowhere.yaml"))
    raises(volery.Error, "1 to", lambda: volery.Batch(HOVER, 0))
    raises(volery.Error, "mass", lambda: volery.Batch(HOVER, 2, randomisation={"mass": ("normal", 1.0, 1.0)}))
    raises(volery.Error, "colour", lambda: volery.Batch(HOVER, 2, observe=["body.colour"]))
    raises(volery.Error, "shape", lambda: volery.Batch(HOVER, 2).reset(np.ones(3, dtype=bool)))
    raises(volery.Error, "choose from none, motors", lambda: volery.World(HOVER, rung="stick"))
    raises(volery.Error, "choose from none, motors", lambda: volery.Batch(HOVER, 2, rung="stick"))
    raises(volery.Error, "choose from float64, float32", lambda: volery.Batch(HOVER, 2, precision="half"))
    raises(volery.Error, "choose from disabled", lambda: volery.Batch(HOVER, 2, autoreset="later"))


def test_misuse_is_an_error() -> None:
    world = volery.World(HOVER, rung="rates")
    raises(volery.Error, "4 values", lambda: world.act([0.3, 0.0]))
    raises(IndexError, "drone 7", lambda: world.act([0.3, 0.0, 0.0, 0.0], drone=7))
    raises(IndexError, "drone -1", lambda: world.scenario.rotors(-1))
    raises(volery.Error, "got -1", lambda: world.step(-1))
    raises(volery.Error, "make it with a rung", lambda: volery.World(HOVER).act([0.3, 0.0, 0.0, 0.0]))
    raises(volery.Error, "seed", lambda: volery.World(HOVER, seed=-3))
    raises(TypeError, "step: a whole number, got 1.5", lambda: world.step(1.5))
    raises(TypeError, "seed: a whole number, got 'a'", lambda: volery.World(HOVER, seed="a"))
    raises(IndexError, "there are a", lambda: world.state("b"))
    raises(volery.Error, "seed", lambda: volery.Batch(HOVER, 2, seed=-1))
    raises(volery.Error, "1 to", lambda: volery.Batch(HOVER, 2**32 + 5))
    raises(volery.Error, "two numbers", lambda: volery.Batch(HOVER, 2, randomisation={"mass": (0.8, 1.2)}))
    raises(volery.Error, "settings: wings=2: unknown key", lambda: volery.World(HOVER, settings={"wings": 2}))
    raises(volery.Error, "got nothing", lambda: volery.World(""))
    raises(volery.Error, "give them to the Scenario", lambda: volery.World(volery.Scenario(HOVER), settings={"seed": 3}))
    batch = volery.Batch(HOVER, 3)
    raises(volery.Error, "got -1", lambda: batch.step(-1))
    raises(IndexError, "world 3", lambda: batch.hash(3))
    batch.close()
    for late in (batch.step, lambda: batch.actions, lambda: batch.ticks, lambda: batch.save(0), lambda: batch.cells("body.rate"), lambda: len(batch), batch.to_gpu,
                 batch.reset, lambda: batch.machine):
        raises(volery.Error, "closed", late)
    assert "closed" in repr(batch)
    batch.close()  # once more is nothing


def test_a_world_lets_go_what_it_may() -> None:
    text = HOVER + ("bodies: [{name: parcel, mass: 5 g, inertia: [1e-6, 1e-6, 1e-6]}]\n"
                    "payloads: [{carrier: a, load: parcel, position: [0, 0, -0.03], release: RELEASE}]\n")
    world = volery.World(text.replace("RELEASE", "on"), rung="velocity")
    world.act([0, 0, 0, 0], "a")
    world.step(100)
    assert abs(np.linalg.norm(world.state("a").position - world.body("parcel").position) - 0.03 * 28 / 33) < 1e-9
    world.act([0, 0, 0, 0], "a", drop=[0])  # said at the end of the next step, done in the one after
    again = copy.copy(world)
    world.step(1)
    before = world.body("parcel").velocity
    world.step(100)
    again.step(101)
    assert abs(world.body("parcel").velocity[2] - before[2] + 0.1 * 9.80665) < 1e-3 and again.hash == world.hash
    raises(volery.Error, "drop", lambda: world.act([0, 0, 0, 0], "a", drop=[32]))
    raises(volery.Error, "no field drops; a reply has drop, debug", lambda: world.act([0, 0, 0, 0], "a", drops=[0]))
    raises(volery.Error, "debug has 8 values at most, got 9", lambda: world.act([0, 0, 0, 0], "a", debug=[0] * 9))
    kept = volery.World(text.replace("RELEASE", "off"), rung="velocity")
    kept.act([0, 0, 0, 0], "a", drop=[0])
    kept.step(10)
    assert kept.failure is not None and "invalid reply" in kept.failure, kept.failure


def test_numbers_to_look_at_change_nothing() -> None:
    hashes = []
    for fields in ({}, {"debug": [1.5, np.nan, -np.inf]}):
        world = volery.World(HOVER, rung="rates")
        world.act([0.28, 0.1, 0.0, 0.0], **fields)
        world.step(100)
        hashes.append((world.hash, world.failure))
        again = copy.copy(world)  # with what it obeys
        again.step(10)
        world.step(10)
        assert again.hash == world.hash
    assert hashes[0] == hashes[1] and hashes[0][1] is None


def test_copies_go_on_with_the_same_bits() -> None:
    world = volery.World(HOVER, seed=9, rung="rates")
    world.act([0.28, 0.1, 0.0, 0.0], "a")
    world.step(50)
    world.act([0.25, 0.0, 0.3, 0.0])  # is obeyed from the end of the next step on: part of what is copied
    copies = [copy.copy(world), copy.deepcopy(world), pickle.loads(pickle.dumps(world))]
    for each in (world, *copies):
        each.step(70)
    assert {each.hash for each in copies} == {world.hash} and world.tick == 120
    scenario = pickle.loads(pickle.dumps(volery.Scenario(HOVER, {"seed": 77})))
    assert scenario.seed == 77 and str(copy.deepcopy(scenario)) == str(scenario)
    del copies, world
    gc.collect()  # each held its own memory
    for held in (volery.Batch(HOVER, 2), volery.World(HOVER).record(os.devnull)):
        raises(TypeError, "neither copied nor pickled", lambda: copy.copy(held))
        raises(TypeError, "neither copied nor pickled", lambda: pickle.dumps(held))


def test_files_of_a_scenario_travel() -> None:
    canyon = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scenarios", "canyon.yaml")
    world = volery.World(canyon)
    world.step(10)
    copied = pickle.loads(pickle.dumps(world))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.mcap")
        with world.record(path):
            world.step(200)
            raises(volery.Error, "already", lambda: world.record(path))
            raises(volery.Error, "recorded", lambda: world.reset())
            raises(volery.Error, "restore: the world is being recorded", lambda: world.restore(world.save()))
        copied.step(200)
        assert copied.hash == world.hash
        assert volery.replay(path) is None  # the wind's table is in the log


def test_reset_starts_again() -> None:
    world = volery.World(HOVER, seed=4)
    world.step(100)
    first = world.hash
    world.reset()
    assert world.tick == 0
    world.step(100)
    assert world.hash == first
    world.reset(seed=5)
    world.step(100)
    other = world.hash
    assert other != first and world.scenario.seed != 5
    world.reset()  # the seed it has now
    world.step(100)
    assert world.hash == other
    assert "100" not in repr(world) and "0.1 s" in repr(world)


def test_settings_are_values() -> None:
    for start in ([0.0, 0.0, 2.5], (0, 0, 2.5), np.array([0.0, 0.0, 2.5])):
        world = volery.World(HOVER, settings={"drones.a.start.position": start, "duration": np.float64(3.0)})
        assert world.state("a").position[2] == 2.5 and world.scenario.steps == 3000
    world = volery.World(HOVER, settings={"drones.a.start": {"position": [0, 0, 3]}, "name": "x"})
    assert world.state().position[2] == 3.0


def test_actions_may_be_assigned() -> None:
    batch = volery.Batch(HOVER, 3, rung="rates", observe="body.position")
    own = batch.actions
    batch.actions = np.full((3, 1, 4), 0.5)
    batch.actions += 1.0
    assert batch.actions is own and (own == 1.5).all() and batch.observations.shape == (3, 1, 3)
    raises(AttributeError, "", lambda: setattr(batch, "ticks", 0))


def test_a_process_steers() -> None:
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    command = f"{sys.executable} {os.path.join(root, 'examples', 'controller.py')}"
    world = volery.World(HOVER, settings={"drones.a.controller": {"kind": "process", "command": command}})
    world.step(300)
    assert world.failure is None and abs(world.state().position[2] - 1.0) < 0.3
    raises(TypeError, "neither copied", lambda: copy.copy(world))
    raises(volery.Error, "no-such", lambda: volery.World(
        HOVER, settings={"drones.a.controller": {"kind": "plugin", "library": "./no-such.so"}}))
    raises(volery.Error, "with a rung", lambda: volery.World(
        HOVER, settings={"drones.a.controller": {"kind": "pilot", "device": "keyboard"}}))


def test_controllers_outlive_the_thread_that_made_their_world() -> None:
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    examples = os.path.join(root, "examples")
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "mine.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-ffp-contract=off", "-I", os.path.join(root, "include"),
                        os.path.join(examples, "controller.c"), "-o", library, "-lm"], check=True)
        hashes = set()
        for controller in ({"kind": "process", "command": f"{sys.executable} {os.path.join(examples, 'controller.py')}"},
                           {"kind": "plugin", "library": library}):
            worlds: list[volery.World] = []
            thread = threading.Thread(target=lambda: worlds.append(
                volery.World(HOVER, settings={"drones.a.controller": {**controller, "deadline": 20}})))
            thread.start()
            thread.join()
            time.sleep(0.05)  # for a signal to arrive
            worlds[0].step(300)
            assert worlds[0].failure is None, worlds[0].failure
            hashes.add(worlds[0].hash)
        assert len(hashes) == 1  # and both give the same bits


def test_the_command_comes_along() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for volery_ in ([os.path.join(os.path.dirname(sys.executable), "volery")], [sys.executable, "-m", "volery"]):
            subprocess.run([*volery_, "run", "hover", "-q", "--duration", "6", "-o", "run.mcap"], check=True, cwd=folder)
        path = os.path.join(folder, "run.mcap")
        assert volery.replay(path) is None
        subprocess.run([*volery_, "new", "controller", "mine"], check=True, cwd=folder, stdout=subprocess.DEVNULL)
        subprocess.run(["make", "-s", "-C", "mine", "fly"], check=True, cwd=folder, stdout=subprocess.DEVNULL)
        world = volery.World(os.path.join(folder, "mine", "mine.yaml"))
        world.step(1000)
        assert world.failure is None
    named = volery.World("hover", seed=3)
    raises(volery.Error, "hoover", lambda: volery.World("hoover"))
    named.step(10)
    assert pickle.loads(pickle.dumps(named)).hash == named.hash


def test_failures_are_sentences() -> None:
    world = volery.World(HOVER, rung="rates")
    world.act([np.nan, 0.0, 0.0, 0.0])
    world.step(3)
    assert world.failure == "at 0.001 s the controller of a gave an invalid reply", world.failure


def test_the_readmes_run() -> None:
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    for page in ("README.md", os.path.join("python", "README.md")):
        with open(os.path.join(root, page)) as file:
            blocks = [part.split("```")[0] for part in file.read().split("```python\n")[1:]]
        for code in [blocks[0], *[code for code in blocks if "volery.Bodies" in code]]:
            with tempfile.TemporaryDirectory() as folder:
                os.symlink(os.path.join(root, "scenarios"), os.path.join(folder, "scenarios"))
                subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, cwd=folder, stdout=subprocess.DEVNULL)


def test_logs_replay() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.mcap")
        world = volery.World(HOVER)
        with world.record(path):
            world.step(300)
        assert volery.replay(path) is None
        with open(path, "rb") as file:
            data = file.read()
        end = data.rindex(b"last_tick")  # the result is the last metadata of a log
        wrong = bytearray(data)
        wrong[end + len(b"last_tick") + 4] ^= 1  # without its checksums: damaged
        with open(path, "wb") as file:
            file.write(wrong)
        raises(volery.Error, "CRC", lambda: volery.replay(path))
        with open(path, "wb") as file:
            file.write(data[:-20])  # all of its records, not its end
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            assert volery.replay(path) is None
        assert "cut off" in str(told[0].message) and "step 300" in str(told[0].message)
        with open(path, "r+b") as file:
            file.truncate(100)
        raises(volery.Error, "", lambda: volery.replay(path))


def test_batch_is_its_worlds() -> None:
    randomisation = {"mass": ("uniform", 0.8, 1.2), "wind_x": ("normal", 0.0, 2.0), "z": ("uniform", 0.0, 1.0)}
    batch = volery.Batch(HOVER, 19, seed=40, rung="rates", randomisation=randomisation, chain=True, threads=2)
    batch.actions[..., 0] = np.linspace(0.2, 0.4, 19)[:, None]
    batch.step(57)
    for i in (0, 7, 18):
        world = volery.World(batch.world_scenario(i), rung="rates")
        world.act(batch.actions[i, 0])
        world.step(57)
        assert world.hash == batch.hash(i) and world.state_hash == batch.state_hash(i)
        assert np.array_equal(world.state().position, batch.observations[i, 0, :3])
        lanes = batch.cells("body.position").shape[2]
        assert np.array_equal(batch.cells("body.position")[i // lanes, :, i % lanes], world.state().position)
    block = batch.save(3)
    batch.step(10)
    hashed = batch.hash(3)
    batch.restore(3, block)
    batch.step(10)
    assert batch.hash(3) == hashed


def test_single_precision_is_near() -> None:
    exact, near = (volery.Batch(HOVER, 5, seed=3, precision=p) for p in ("float64", "float32"))
    exact.step(1000)
    near.step(1000)
    error = np.abs(exact.observations - near.observations)[..., :3].max()
    assert 0.0 < error < 1e-3
    raises(volery.Error, "single precision", lambda: volery.Batch(HOVER, 2, chain=True, precision="float32"))


def test_arrays_are_views() -> None:
    batch = volery.Batch(HOVER, 4, rung="motors")
    observations = batch.observations
    address = observations.ctypes.data
    batch.actions[...] = 0.62
    before = observations.copy()
    batch.step(20)
    assert observations.ctypes.data == address and not np.array_equal(observations, before)
    assert np.array_equal(np.from_dlpack(observations), observations)
    assert np.from_dlpack(observations).ctypes.data == address
    del batch
    gc.collect()
    assert np.isfinite(observations).all()  # the memory lives as long as a view of it


def test_device_arrays_are_taken_without_a_copy() -> None:
    memory = np.arange(48.0).reshape(4, 12)
    array = volery.DeviceArray(memory.ctypes.data, (4, 3, 2), np.float64, strides=(12, 4, 1))
    assert array.__dlpack_device__() == (1, 0) and not hasattr(array, "__cuda_array_interface__")
    taken = np.from_dlpack(array)
    assert taken.ctypes.data == memory.ctypes.data and np.array_equal(taken, memory.reshape(4, 3, 4)[..., :2])
    memory[3, 9] = -1.0
    assert taken[3, 2, 1] == -1.0
    flags = volery.DeviceArray(memory.ctypes.data, (5,), np.uint8)
    assert np.from_dlpack(flags).dtype == np.uint8 and np.from_dlpack(flags).shape == (5,)
    for version, name in ((None, "dltensor"), ((0, 8), "dltensor"), ((1, 0), "dltensor_versioned")):
        capsule = array.__dlpack__(stream=-1, max_version=version)
        assert f'"{name}"' in repr(capsule)
        del capsule  # nobody took it: it lets go of what it holds
    raises(BufferError, "device", lambda: array.__dlpack__(dl_device=(2, 0)))
    raises(BufferError, "copies", lambda: array.__dlpack__(copy=True))


def test_capsules_leave_nothing_behind() -> None:
    def held() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1])

    array = volery.DeviceArray(np.zeros(3).ctypes.data, (3,), np.float64)
    before = 0
    for count in range(60_000):
        if count == 10_000:
            before = held()
        array.__dlpack__(max_version=(1, 0) if count % 2 else None)
    assert held() - before < 500  # pages: 50,000 tensors would be 2,400 of them


def test_a_gpu_that_is_not_there_is_an_error() -> None:
    batch = volery.Batch(HOVER, 4)
    raises(volery.Error, "GPU: ", batch.to_gpu)  # tests/gpu/gpu_check.py is for machines that have one
    batch.step(1)  # the batch is as it was


def test_a_call_costs_what_it_costs_in_c() -> None:
    assert volery_bench.main(["--json", "--worlds", "64"]) == 0  # prints; the hashes are the same


def test_autoreset_in_the_batch() -> None:
    batch = volery.Batch(HOVER, 3, episode=20, autoreset="same_step")
    batch.step(20)
    assert batch.truncated.all() and (batch.ticks == 0).all()
    batch.step(10)
    assert not batch.truncated.any() and (batch.ticks == 10).all()


def test_joined_worlds_in_a_batch() -> None:
    slung = HOVER + ("bodies: [{name: load, mass: 3 g, inertia: [1e-7, 1e-7, 1e-7], position: [0, 0, 0.2]}]\n"
                     "joints: [{kind: cable, a: a, b: load, length: 0.3 m}]\n")
    batch = volery.Batch(slung, 3, chain=True)
    assert batch.machine == "worlds" and batch.observations.shape[:2] == (3, 1)
    batch.step(500)
    world = volery.World(batch.world_scenario(2))
    world.step(500)
    assert batch.hash(2) == world.hash and batch.ticks[2] == 500


def test_environments_pass_the_checker() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for task in TASKS:
            env = gym.make(f"volery/{task}-v0", render_mode="rgb_array", width=64, height=48)
            check_env(env.unwrapped)
            env.close()
        for rung in list(volery.RUNGS)[1:]:
            env = gym.make("volery/Scenario-v0", scenario=HOVER, rung=rung)
            check_env(env.unwrapped, skip_render_check=True)
            env.close()


SENSING = HOVER.replace("drones:\n  - name: a\n", "drones:\n  - name: a\n    sensors: {baro: {period: 10 ms}, gps: {period: 100 ms}}\n")
WALL = "obstacles: [{kind: box, position: [2, 0, 1], size: [0.2, 4, 2]}]\n"


def test_any_scenario_is_an_environment() -> None:
    env = gym.make("volery/Scenario-v0", scenario=SENSING, rung="attitude", period=0.02, episode=0.1, clip=0.0,
                   observe=["target", "imu.accel", "baro.altitude", "gps.position", "action", "time"],
                   reward=["alive", ("distance", -2.0, 0.5)], randomisation={"mass": ("uniform", 0.9, 1.1)}).unwrapped
    seen, _ = env.reset(seed=5)
    assert env.action_space.shape == (4,) and env.observation_space.shape == (3 + 3 + 1 + 3 + 4 + 1,) == seen.shape
    world = volery.World(env.task.world_scenario(0), rung="attitude")
    for step in range(5):
        action = np.array([-0.3, 0.1, -0.2, 0.05], dtype=np.float32)
        seen, reward, terminated, truncated, _ = env.step(action)
        world.act(env.task.intents(0)[0])
        world.step(20)
        assert np.array_equal(seen[10:14], action) and np.isclose(seen[14], (step + 1) / 5.0)
        assert abs(reward - (1.0 - 4.0 * np.linalg.norm(seen[:3]))) < 1e-5
        assert not terminated and truncated == (step == 4)
        assert world.state_hash == env.task.state_hash(0)
    assert abs(seen[5]) > 1.0 and seen[6] != 0.0  # gravity is felt, and the air's pressure
    for options, words in (({"rung": "wings"}, "rung 'wings': choose from"), ({"observe": ["body.speed"]}, "no field body.speed"),
                           ({"reward": {"joy": 1.0}}, "reward 'joy': choose from alive"), ({"period": 1.5e-4}, "period: whole steps"),
                           ({"goals": [[1.0, 2.0]]}, "goals: an array"), ({"observe": ["gate"]}, "with goals"),
                           ({"action_range": ([0.0], [1.0, 2.0])}, "action_range"), ({"episode": 0.015}, "multiple of the period"),
                           ({"render_mode": "ansi"}, "render_mode 'ansi'")):
        raises((volery.Error, ValueError), words, lambda: ScenarioEnv(HOVER, **options))


def test_actions_that_are_no_numbers_are_refused() -> None:
    env = gym.make("volery/Hover-v0").unwrapped
    env.reset(seed=1)
    before = env.task.state_hash(0)
    raises(ValueError, "action 2 of drone 0 in world 0 is not finite", lambda: env.step(np.array([0.0, 0.0, np.nan, 0.0])))
    raises(ValueError, "4 values", lambda: env.step(np.zeros(3)))
    assert env.task.state_hash(0) == before
    rows = gym.make_vec("volery/Hover-v0", num_envs=3)
    rows.reset(seed=1)
    raises(ValueError, "in world 1", lambda: rows.step(np.array([[0.0] * 4, [np.inf] * 4, [0.0] * 4])))
    env.close()
    raises(volery.Error, "closed", lambda: env.task.step())


def test_rewards_are_their_formulas() -> None:
    env = gym.make_vec("volery/Waypoints-v0", num_envs=40)
    seen, _ = env.reset(seed=3)
    random = np.random.default_rng(1)
    arrived = 0
    for _ in range(300):
        way, velocity = seen[:, 0:3].astype(float), seen[:, 3:6].astype(float)
        turn = seen[:, 6:15].reshape(-1, 3, 3).astype(float)
        action = np.concatenate([-0.25 + 0.5 * way[:, 2:] - 0.4 * velocity[:, 2:], random.uniform(-0.1, 0.1, (40, 3))], axis=1)
        tilt = np.einsum("nji,nj->ni", turn, np.stack([way[:, 0] - 0.8 * velocity[:, 0], way[:, 1] - 0.8 * velocity[:, 1], np.full(40, 2.0)], axis=1))
        action[:, 1] -= 0.35 * tilt[:, 1]
        action[:, 2] += 0.35 * tilt[:, 0]
        action = action.clip(-1.0, 1.0)
        running, before = ~env._done, env.task.goal_index[:, 0].copy()
        seen, reward, terminated, truncated, _ = env.step(action.astype(np.float32))
        reached = env.task.goal_index[:, 0] != before
        away = np.linalg.norm(seen[:, :3].astype(float), axis=1)
        told = action.astype(np.float32).astype(float)
        effort = -0.05 * np.square(seen[:, 15:18].astype(float) / 10.0).sum(1) - 0.02 * np.square(told[:, 1:]).sum(1)
        plain = running & ~reached & ~terminated
        assert np.allclose(reward[plain], (1.0 / (1.0 + 4.0 * away * away) + effort)[plain], atol=1e-5)
        assert (reward[running & reached] > 5.0).all()
        arrived += int((running & reached).sum())
    assert arrived > 20


def test_an_environment_records_what_it_flies() -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "x.mcap"
        env = gym.make("volery/Swarm-v0").unwrapped
        env.record(log)
        env.reset(seed=8)
        for _ in range(40):
            env.step(np.tile(np.array([-0.25, 0.1, 0.0, 0.2], dtype=np.float32), 3))
        env.close()
        assert volery.replay(log) is None


def test_pictures_show_what_is_there() -> None:
    def picture(scenario: str, steps: int) -> np.ndarray:
        env = gym.make("volery/Scenario-v0", scenario=scenario, rung="velocity", render_mode="rgb_array", width=400, height=300).unwrapped
        env.reset(seed=1)
        env.render()
        for _ in range(steps):
            env.step(np.array([0.3, 0.0, 0.0, 0.0]))
        return env.render()

    open_air, wall, later = picture(HOVER, 5), picture(HOVER + WALL, 5), picture(HOVER + WALL, 60)
    assert open_air.shape == (300, 400, 3) and open_air.dtype == np.uint8
    brown = lambda p: int(((p[..., 0].astype(int) - p[..., 2] > 15) & (p[..., 0] < 190)).sum())
    red = lambda p: (p[..., 0].astype(int) - p[..., 1] > 80).nonzero()[1]
    assert brown(wall) > 500 > 20 > brown(open_air)
    assert len(red(later)) > 10 and np.array_equal(wall, picture(HOVER + WALL, 5))
    assert red(later).mean() > red(wall).mean() + 5.0  # it flies to the right


def walk(env: gym.vector.VectorEnv, steps: int, seed: int) -> list:
    out = [env.reset(seed=seed)[0]]
    random = np.random.default_rng(3)
    for _ in range(steps):
        action = np.tile(random.uniform(-1.0, 1.0, env.single_action_space.shape).astype(np.float32), (env.num_envs, 1))
        observation, reward, terminated, truncated, _ = env.step(action)
        out += [observation.copy(), reward.copy(), terminated, truncated]
    return out


def test_rows_do_not_depend_on_their_number() -> None:
    for task in TASKS:
        many = walk(gym.make_vec(f"volery/{task}-v0", num_envs=9), 150, 11)
        few = walk(gym.make_vec(f"volery/{task}-v0", num_envs=2), 150, 11)
        for a, b in zip(many, few):
            assert np.array_equal(a[:2], b), task
        env = gym.make(f"volery/{task}-v0")
        assert np.array_equal(env.reset(seed=12)[0], few[0][1])


def test_rows_may_have_seeds_of_their_own() -> None:
    env = gym.make_vec("volery/Track-v0", num_envs=3)
    listed = env.reset(seed=[5, 9, 2])[0].copy()
    for row, seed in enumerate((5, 9, 2)):
        assert np.array_equal(listed[row], gym.make("volery/Track-v0").reset(seed=seed)[0])
    again = env.reset(seed=[5, None, 2])[0]
    assert np.array_equal(again[::2], listed[::2]) and not np.array_equal(again[1], listed[1])
    raises(ValueError, "3 seeds", lambda: env.reset(seed=[1, 2]))
    raises(ValueError, "3 x 4 actions", lambda: env.step(np.zeros((2, 4))))
    env.reset(seed=4)
    first = env.np_random.integers(1000)
    env.reset(seed=4)
    assert env.np_random.integers(1000) == first


def test_processes_agree() -> None:
    code = ("import sys; sys.path.insert(0, sys.argv[1]); import hashlib, gymnasium as gym, test_volery as t; "
            "print(hashlib.sha256(b''.join(x.tobytes() for x in "
            "t.walk(gym.make_vec('volery/Race-v0', num_envs=5), 60, 2))).hexdigest())")
    here = os.path.dirname(os.path.abspath(__file__))
    runs = {subprocess.run([sys.executable, "-c", code, here], check=True, capture_output=True, text=True).stdout
            for _ in range(2)}
    assert len(runs) == 1 and len(runs.pop()) == 65


def test_three_autoreset_modes() -> None:
    fall = np.tile(np.array([-1.0, 0.0, 0.0, 0.0], dtype=np.float32), (3, 1))
    for mode in AutoresetMode:
        env = gym.make_vec("volery/Hover-v0", num_envs=3, autoreset_mode=mode)
        env.reset(seed=1)
        for _ in range(200):
            observation, _, terminated, _, info = env.step(fall)
            if terminated.any():
                break
        done = terminated.copy()
        assert done.any()
        height = lambda o: 1.0 - o[done, 2]  # the target is at 1 m
        if mode == AutoresetMode.SAME_STEP:
            assert (height(observation) > 0.4).all() and info["_final_obs"][done].all()
            assert all(1.0 - o[2] < 0.1 for o in info["final_obs"][done])
        else:
            assert (height(observation) < 0.1).all()
        if mode == AutoresetMode.NEXT_STEP:
            observation, reward, terminated, _, _ = env.step(fall)
            assert (height(observation) > 0.4).all() and (reward[done] == 0.0).all() and not terminated[done].any()
        if mode == AutoresetMode.DISABLED:
            observation, _ = env.reset(options={"reset_mask": done})
            assert (height(observation) > 0.4).all()
        env.close()


def test_threads_share_a_world() -> None:
    world = volery.World(HOVER)

    def step() -> None:
        for _ in range(300):
            world.step(3)

    def look() -> None:
        for _ in range(300):
            assert np.isfinite(world.state().position).all()
            assert world.failure is None and len(world.save()) > 0

    together(step, step, step, look)
    alone = volery.World(HOVER)
    alone.step(2700)
    assert world.tick == 2700 and world.hash == alone.hash

    def again() -> None:
        for seed in range(60):
            world.reset(seed)
            world.restore(world.save())

    together(step, look, again, again)
    world.reset(7)
    world.step(100)
    other = volery.World(HOVER, seed=7)
    other.step(100)
    assert world.hash == other.hash


def test_worlds_of_one_scenario_in_threads() -> None:
    scenario = volery.Scenario(HOVER)
    hashes: dict[int, int] = {}

    def fly(seed: int) -> None:
        for _ in range(20):
            world = volery.World(scenario, seed=seed)
            world.step(50)
            assert hashes.setdefault(seed, world.hash) == world.hash

    together(*(partial(fly, seed) for seed in range(4)))
    assert len(set(hashes.values())) == 4 and scenario.seed == 1


def test_threads_share_a_batch() -> None:
    batch = volery.Batch(HOVER, 64, threads=4)

    def step() -> None:
        for _ in range(200):
            batch.step(2)
            assert batch.save(3) and batch.state_hash(5)

    together(step, step, step, step)
    assert (batch.ticks == 1600).all()
    alone = volery.Batch(HOVER, 64, threads=1)
    alone.step(1600)
    assert [batch.state_hash(i) for i in range(64)] == [alone.state_hash(i) for i in range(64)]


def test_a_batch_is_closed_while_others_step_it() -> None:
    for _ in range(10):
        batch = volery.Batch(HOVER, 64, rung="rates", threads=2)
        under_way = threading.Barrier(3)

        def step() -> None:
            under_way.wait(60.0)
            try:
                while True:
                    batch.actions[:, :, 0] = 0.27
                    batch.step(5)
                    batch.cells("body.position").sum()
            except volery.Error as e:
                assert "closed" in str(e)

        def close() -> None:
            under_way.wait(60.0)
            batch.step(3)
            batch.close()

        together(step, step, close)
        raises(volery.Error, "closed", batch.step)


def test_what_a_log_names_is_not_started() -> None:
    with tempfile.TemporaryDirectory() as folder:
        example = Path(__file__).resolve().parents[2] / "examples" / "controller.py"
        (Path(folder) / "mine.py").write_text(
            f"open({folder + '/sprung'!r}, 'w').close()\n" + example.read_text())
        command = f"{sys.executable} {folder}/mine.py"
        world = volery.World(HOVER, settings={"drones.a.controller": {"kind": "process", "command": command}})
        with world.record(f"{folder}/run.mcap"):
            world.step(100)
        sprung = Path(folder) / "sprung"
        sprung.unlink()
        assert volery.replay(f"{folder}/run.mcap") is None
        raises(volery.Error, "allow_programs", lambda: volery.replay(f"{folder}/run.mcap", live=True))
        assert not sprung.exists()
        assert volery.replay(f"{folder}/run.mcap", live=True, allow_programs=True, unconfined=True) is None
        assert sprung.exists()


def test_interrupts_are_heard() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a caller in the background may have had it ignored
    world = volery.World(HOVER)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    raises(KeyboardInterrupt, "", lambda: world.step(2**40))  # which takes years
    assert world.tick > 0
    batch = volery.Batch(HOVER, 64)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    raises(KeyboardInterrupt, "", lambda: batch.step(2**40))
    assert (batch.ticks > 0).all()


CAMPAIGN = """volery: 1
campaign: python
scenario: hover.yaml
{sample}
vary:
  - {{key: drones.a.vehicle.mass, from: 25 g, to: 32 g}}
  - {{key: "world.wind.constant[0]", from: -3, to: 3}}
  - {{key: "world.wind.constant[1]", from: -3, to: 3}}
"""
EXPECTED = "world: {wind: {constant: [0, 0, 0]}}\nexpect: [{quantity: position_error, at: end, max: 10 cm}]\n"


def fly_campaign(folder: str, sample: str) -> dict[str, object] | None:
    """The answer of a campaign in `folder`; None where there is no command to fly it with."""
    command = os.environ.get("VOLERY_COMMAND")
    if command is None or not os.path.exists(command):
        return None
    (Path(folder) / "hover.yaml").write_text(HOVER + EXPECTED)
    plan = Path(folder) / "plan.yaml"
    plan.write_text(CAMPAIGN.format(sample=sample))
    with ThreadPoolExecutor(2) as pool:
        return volery.campaign.run(plan, pool, folder=Path(folder) / "out", shards=7, command=command)


def test_campaigns_by_an_executor() -> None:
    with tempfile.TemporaryDirectory() as folder:
        first = fly_campaign(folder, "cases: 60")
        if first is None:
            return
        assert first["cases"] == 60 and Path(str(first["table"])).exists() and Path(str(first["page"])).exists()
        shutil.rmtree(Path(folder) / "out" / "shards")
        (Path(folder) / "out" / "shards").mkdir()
        again = fly_campaign(folder, "cases: 60")  # what is missing is flown again
        assert again is not None and again["hash"] == first["hash"]
        try:
            fly_campaign(folder, "cases: 61")
        except volery.campaign.CampaignError as error:
            assert "another plan" in str(error)
        else:
            raise AssertionError("another plan was mixed in")


def test_sensitivity_is_that_of_salib() -> None:
    try:
        import pandas
        from SALib.analyze import sobol
    except ImportError:
        return
    with tempfile.TemporaryDirectory() as folder:
        answer = fly_campaign(folder, "sample: saltelli\nseeds: same\ncases: 2560")
        if answer is None:
            return
        score = pandas.read_parquet(str(answer["table"]))["score"].to_numpy()
        blocks = score.reshape(5, 512)  # A, B, and A with a column of B each; SALib has A, the mixtures, B
        problem = {"num_vars": 3, "names": ["mass", "x", "y"], "bounds": [[0, 1]] * 3}
        found = sobol.analyze(problem, blocks[[0, 2, 3, 4, 1]].T.ravel(), calc_second_order=False)
        variables = answer["variables"]
        assert isinstance(variables, list)
        for k in range(3):
            assert abs(found["S1"][k] - variables[k]["first_order"]) < 1e-9
            assert abs(found["ST"][k] - variables[k]["total"]) < 1e-9


if __name__ == "__main__":
    run(globals())
