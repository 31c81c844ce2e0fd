"""What the tests of the package share."""

from __future__ import annotations

import sys
import threading
import traceback
from typing import Any, Callable, Mapping, NoReturn


def raises(kind: type[BaseException] | tuple[type[BaseException], ...], words: str, call) -> None:
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"no {kind}")


def together(*parts: Callable[[], None]) -> None:
    """Each in a thread of its own, until all are done; what one of them throws is thrown here."""
    thrown: list[BaseException] = []

    def guarded(part: Callable[[], None]) -> None:
        try:
            part()
        except BaseException as e:
            thrown.append(e)

    threads = [threading.Thread(target=guarded, args=(part,), daemon=True) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120.0)
        assert not thread.is_alive(), "threads wait for each other"
    if thrown:
        raise thrown[0]


def run(names: Mapping[str, Any]) -> NoReturn:
    """Every test_NAME of a module, or those that are named as arguments."""
    failed = 0
    for name in sys.argv[1:] or [name for name in names if name.startswith("test_")]:
        try:
            names[name]()
            print(f"ok      {name}")
        except Exception:
            failed += 1
            print(f"FAILED  {name}")
            traceback.print_exc()
    sys.exit(failed != 0)
