"""Campaigns from Python: one scenario flown many times, by any executor (docs/campaigns.md).

    from concurrent.futures import ThreadPoolExecutor
    result = volery.campaign.run("wind.yaml", ThreadPoolExecutor(8))
    result = volery.campaign.run("wind.yaml", dask.distributed.Client(), folder="/shared/wind")
    print(result["answer"], result["hash"])
    frame = pandas.read_parquet(result["table"])

A task is one shard, flown by the command `volery` wherever the executor runs it; all of them see the same folder. A task that
is lost and started again does no harm: a shard is written whole or not at all, and is the same whoever flies it. Threads are
enough, since each only waits for its process.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Iterable

__all__ = ["CampaignError", "check", "run"]

# What numbers a process in a cluster: a task has its shard by name.
_RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_ARRAY_TASK_ID", "SLURM_PROCID")


class CampaignError(RuntimeError):
    """A campaign could not be flown; the text is the command's."""


def _find_command(command: str | None) -> str:
    packaged = Path(__file__).parent / "bin" / "volery"
    path = command or (str(packaged) if packaged.exists() else shutil.which("volery"))
    if path is None:
        raise CampaignError("there is no command volery: build it by make, or give command=")
    return path


def _run_command(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k not in _RANK_VARIABLES}
    completed = subprocess.run(arguments, capture_output=True, text=True, env=environment, check=False)
    if completed.returncode not in (0, 1):  # 1: cases have failed, which is an answer
        raise CampaignError(completed.stderr.strip() or f"{arguments[0]} ended with {completed.returncode}")
    return completed


def fly_shard(command: str, plan: str, folder: str, shards: int, shard: int) -> int:
    """Fly one shard; what an executor runs."""
    _run_command([command, "campaign", "run", plan, "-o", folder, "--shards", str(shards), "--shard", str(shard), "--quiet"])
    return shard


def check(plan: str | os.PathLike[str], command: str | None = None) -> dict[str, Any]:
    """The plan as `volery campaign check --json` has it: cases, cost, first cases."""
    completed = _run_command([_find_command(command), "campaign", "check", os.fspath(plan), "--json"])
    answer: dict[str, Any] = json.loads(completed.stdout)
    return answer


def _missing_shards(command: str, plan: str, folder: str, shards: int) -> list[int]:
    existing = {int(p.stem) for p in Path(folder).glob("shards/*.vyshard") if p.stem.isdigit()}
    return [i for i in range(shards) if i not in existing]


def _wait(tasks: Iterable[Any]) -> None:
    for task in tasks:
        task.result()


def run(
    plan: str | os.PathLike[str],
    executor: Any,
    folder: str | os.PathLike[str] | None = None,
    shards: int = 64,
    command: str | None = None,
) -> dict[str, Any]:
    """Fly what is missing of a campaign over an executor, then merge.

    `executor` has `submit(function, *arguments)` that returns something with `result()`: those of concurrent.futures, a Client
    of Dask. `shards` counts at the first start of the folder alone. Returns the answer of `volery campaign merge --json`, with
    `table`, the path of the Parquet file, and `page` beside it.
    """
    program = _find_command(command)
    plan_path = Path(plan).resolve()
    results = Path(folder).resolve() if folder is not None else Path.cwd() / f"{plan_path.stem}-results"
    campaign_file = results / "campaign.yaml"
    if campaign_file.exists():  # what the folder was started with stays
        shards = next(int(line.split()[1]) for line in campaign_file.read_text().splitlines() if line.startswith("shards:"))
    else:
        shards = min(shards, int(check(plan_path, program)["cases"]))
    _wait([executor.submit(fly_shard, program, str(plan_path), str(results), shards, i)
           for i in _missing_shards(program, str(plan_path), str(results), shards)])
    answer: dict[str, Any] = json.loads(
        _run_command([program, "campaign", "merge", str(plan_path), "-o", str(results), "--json"]).stdout)
    answer["table"] = str(results / "results.parquet")
    answer["page"] = str(results / "campaign.html")
    return answer
