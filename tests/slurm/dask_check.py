"""A campaign over Dask with a worker killed in between, and over concurrent.futures: dask_check.py VOLERY PLAN HASH."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import campaign  # python/volery/campaign.py by itself, for workers too: the package around it wants the library


def main() -> None:
    from distributed import Client, LocalCluster

    command, plan, expected = sys.argv[1:]
    with ThreadPoolExecutor(2) as pool:
        result = campaign.run(plan, pool, folder="futures", shards=12, command=command)
    assert result["hash"] == expected, (result["hash"], expected)
    print("ok: concurrent.futures: the same hash")
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        victims = list(client.run(os.getpid).values())

        def kill_one() -> None:
            while len(list(Path("dask").glob("shards/*.vyshard"))) < 2:
                time.sleep(0.05)
            os.kill(victims[0], signal.SIGKILL)

        killer = threading.Thread(target=kill_one)
        killer.start()
        result = campaign.run(plan, client, folder="dask", shards=40, command=command)
        killer.join()
    assert result["hash"] == expected, (result["hash"], expected)
    print("ok: Dask with a worker killed: the same hash")


if __name__ == "__main__":
    main()
