"""Volery: a deterministic drone-flight world, alone or by the thousand.

    world = volery.World("hover")  # or a path, or YAML text
    world.step(1000)
    print(world.state().position, hex(world.hash))

    batch = volery.Batch("scenarios/hover.yaml", 4096, rung="rates")
    batch.actions[...] = ...
    batch.step(10)

    volery.campaign.run("wind.yaml", concurrent.futures.ThreadPoolExecutor(8))  # many flights, docs/campaigns.md

With Gymnasium installed any scenario is an environment: `gymnasium.make("volery/Scenario-v0", scenario="my.yaml")`; Hover,
Waypoints, Track, Race and Swarm come along, and their `make_vec`.
"""

from . import campaign
from ._binding import Error, lib as _lib
from .batch import Batch, variables
from .gpu import DeviceArray, Gpu
from .scenario import RUNGS, Scenario
from .task import Task, observed, reward_terms
from .world import BodyState, DroneState, Recording, World, replay

__version__: str = _lib.binding_version().decode()
__all__ = ["Batch", "BodyState", "DeviceArray", "DroneState", "Error", "Gpu", "RUNGS", "Recording", "Scenario", "Task", "World",
           "campaign", "observed", "replay", "reward_terms", "variables"]

try:
    import gymnasium as _gymnasium
except ImportError:  # the environments need it, the rest does not
    pass
else:
    for _task in ("Scenario", "Hover", "Waypoints", "Track", "Race", "Swarm"):
        if f"volery/{_task}-v0" not in _gymnasium.registry:
            _gymnasium.register(
                id=f"volery/{_task}-v0",
                entry_point=f"volery.envs:{_task}Env",
                vector_entry_point=f"volery.envs:{_task}VectorEnv",
            )
