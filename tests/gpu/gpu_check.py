"""The GPU from Python: run by tools/gpu_python_check.sh on a machine that has one. Every bit is compared with the CPU's.

Arrays go to PyTorch, CuPy and JAX where they are installed; what is not is said.
"""

from __future__ import annotations

import gc
import importlib
import time
from typing import Any

import numpy as np
import volery

WORLDS, CALLS, STEPS = 4096, 50, 20
SCENARIO = ("volery: 1\nduration: 10 s\nworld: {wind: {constant: [0.5, 0, 0]}}\n"
            "drones:\n  - {name: a, vehicle: crazyflie2x, safety: {tilt_max: 1.2, height_min: 0.2}}\n")
VARY = {"mass": ("uniform", 0.8, 1.2), "imu_noise": ("log", 0.1, 10.0), "z": ("uniform", 0.0, 4.0),
        "roll": ("uniform", -0.9, 0.9), "rate_x": ("normal", 0.0, 2.0)}


def batch(**more: Any) -> volery.Batch:
    return volery.Batch(SCENARIO, WORLDS, rung="rates", randomisation=VARY, **more)


def library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"{name}: not installed, not tried")
        return None


def same(gpu: volery.Gpu, mine: volery.Batch) -> bool:
    """Bring the worlds back and compare all that there is."""
    gpu.download()
    theirs = gpu.batch
    hashes = all(mine.state_hash(i) == theirs.state_hash(i) for i in range(WORLDS))
    return hashes and all(np.array_equal(getattr(mine, n), getattr(theirs, n))
                          for n in ("observations", "terminated", "truncated", "ticks"))


def actions(call: int) -> np.ndarray:
    random = np.random.default_rng(call)
    return np.concatenate([random.uniform(0.2, 0.4, (WORLDS, 1, 1)), random.normal(0.0, 6.0, (WORLDS, 1, 3))], axis=2)


def check_host_copies() -> None:
    mine, gpu = batch(episode=900), batch(episode=900).to_gpu()
    cpu_s = gpu_s = 0.0
    for call in range(CALLS):
        mine.actions[...] = gpu.batch.actions[...] = actions(call)
        start = time.perf_counter()
        mine.step(STEPS)
        cpu_s += time.perf_counter() - start
        gpu.upload_actions()
        start = time.perf_counter()
        gpu.step(STEPS)
        gpu_s += time.perf_counter() - start
    gpu.download_observations()
    assert np.array_equal(mine.observations, gpu.batch.observations)
    assert same(gpu, mine) and mine.terminated.any() and mine.truncated.any()
    over = mine.terminated | mine.truncated
    mine.reset(over)
    gpu.batch.reset(over)
    gpu.upload()
    mine.step(STEPS)
    gpu.step(STEPS)
    assert same(gpu, mine) and mine.ticks[over].max() == STEPS
    rate = WORLDS * STEPS * CALLS
    print(f"host copies: {WORLDS} worlds the same after {STEPS * CALLS} steps, {int(over.sum())} ended, reset and went on; "
          f"CPU ({mine.machine}, {mine.threads} threads) {rate / cpu_s:.3g}, GPU {rate / gpu_s:.3g} drone-steps/s")
    start = time.perf_counter()
    for _ in range(200):
        gpu.step()
    print(f"a call of one step: {(time.perf_counter() - start) / 200 * 1e6:.1f} us")


def check_torch(torch: Any) -> None:
    mine, gpu = batch(), batch().to_gpu()
    told, seen = torch.from_dlpack(gpu.actions), torch.from_dlpack(gpu.observations)
    ended = torch.from_dlpack(gpu.terminated)
    assert told.data_ptr() == gpu.actions.address and seen.data_ptr() == gpu.observations.address
    assert told.is_cuda and told.dtype == torch.float64 and tuple(seen.shape) == (WORLDS, 1, 13)
    assert np.array_equal(seen.cpu().numpy(), mine.observations)  # before the first step, too
    stream = torch.cuda.Stream()  # not the one the worlds are stepped on
    for call in range(CALLS):
        with torch.cuda.stream(stream):
            busy = torch.randn(2048, 2048, device="cuda", dtype=torch.float64)
            for _ in range(3):
                busy = busy @ busy.T / 2048.0
            told.copy_(torch.from_numpy(actions(call)).cuda() + 0.0 * busy.flatten()[0].nan_to_num(0.0, 0.0, 0.0))
        mine.actions[...] = actions(call)
        mine.step(STEPS)
        gpu.step(STEPS)  # waits for the writing above
        assert np.array_equal(seen.cpu().numpy(), mine.observations), call
        assert np.array_equal(ended.cpu().numpy() != 0, mine.terminated), call
    for call in range(10):  # a policy on the GPU, its actions in the worlds' memory
        told[..., 0] = 0.27 + 0.1 * (1.0 - seen[..., 2])
        told[..., 1:] = -0.5 * seen[..., 10:13]
        mine.actions[...] = told.cpu().numpy()
        mine.step(STEPS)
        gpu.step(STEPS)
    assert same(gpu, mine)
    kept, before = seen.clone(), torch.cuda.mem_get_info()[0]
    del gpu, told, ended
    gc.collect()
    assert torch.equal(seen, kept)  # the memory lives as long as a tensor of it
    del seen
    gc.collect()
    assert torch.cuda.mem_get_info()[0] > before  # and no longer
    print(f"torch {torch.__version__}: actions written and observations read on the GPU, without a copy, same bits")


def check_cells(cupy: Any) -> None:
    mine, gpu = batch(), batch().to_gpu()
    mine.actions[..., 0] = gpu.batch.actions[..., 0] = 0.3
    gpu.upload_actions()
    mine.step(100)
    gpu.step(100)
    for field in ("body.position", "body.attitude"):
        there = cupy.asnumpy(cupy.from_dlpack(gpu.cells(field)))  # (blocks, values, lanes)
        rows = there.transpose(0, 2, 1).reshape(-1, there.shape[1])[:WORLDS]
        here = mine.cells(field).transpose(0, 2, 1).reshape(-1, there.shape[1])[:WORLDS]
        assert np.array_equal(rows, here), field
    interface = cupy.asarray(gpu.observations)
    assert interface.data.ptr == gpu.observations.address and np.array_equal(cupy.asnumpy(interface), mine.observations)
    told = cupy.from_dlpack(gpu.actions)
    told *= 1.1
    mine.actions *= 1.1
    mine.step(50)
    gpu.step(50)
    assert same(gpu, mine)
    print(f"cupy {cupy.__version__}: the state itself, observations and actions on the GPU, same bits")


def check_jax(jax: Any) -> None:
    jax.config.update("jax_enable_x64", True)
    gpu = batch().to_gpu()
    seen = jax.dlpack.from_dlpack(gpu.observations)
    assert np.array_equal(np.asarray(seen), gpu.batch.observations)
    print(f"jax {jax.__version__}: observations taken")


def check_single() -> None:
    """Floats: the GPU's worlds beside the CPU's doubles, and beside the CPU's floats. Tier 1: near, not the same."""
    exact, floats = batch(), batch(precision="float32")
    gpu = batch(precision="float32").to_gpu()
    for call in range(5):
        exact.actions[...] = floats.actions[...] = gpu.batch.actions[...] = actions(call)
        gpu.upload_actions()
        for worlds in (exact, floats, gpu):
            worlds.step(STEPS)
    gpu.download()
    going = ~(exact.terminated | floats.terminated | gpu.batch.terminated)
    error, apart = (np.abs(gpu.batch.observations - other.observations)[going][..., :3].max() for other in (exact, floats))
    assert 0.0 < error < 1e-3 and apart < 1e-3 and going.sum() > WORLDS // 2
    print(f"float32: {int(going.sum())} worlds after {5 * STEPS} steps within {error:.2g} m of the CPU's doubles, {apart:.2g} m of "
          f"its floats")


def check_errors() -> None:
    gpu, closed = (volery.Batch(SCENARIO, 4).to_gpu() for _ in range(2))
    closed.batch.close()
    for call, words in ((volery.Batch(SCENARIO, 4, chain=True).to_gpu, "worlds of one drone"),
                        (volery.Batch(SCENARIO, 4, episode=9, autoreset="same_step").to_gpu, "worlds of one drone"),
                        (lambda: gpu.cells("body.colour"), "body.colour"), (closed.step, "closed"),
                        (closed.download, "closed")):
        try:
            call()
        except volery.Error as error:
            assert words in str(error), error
        else:
            raise AssertionError(f"no error: {words}")


if __name__ == "__main__":
    check_errors()
    check_host_copies()
    check_single()
    for name, check in (("torch", check_torch), ("cupy", check_cells), ("jax", check_jax)):
        found = library(name)
        if found is not None:
            check(found)
    print("gpu_check.py: ok")
