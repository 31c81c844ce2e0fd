"""The `volery` command that comes with the package: `volery run first-flight`, or `python -m volery run first-flight`."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    """Become the command."""
    program = Path(__file__).parent / "bin" / "volery"
    if not program.exists():
        sys.exit("volery: this package was made without the command; build it by make in the project's folder")
    os.execv(program, ["volery", *sys.argv[1:]])


if __name__ == "__main__":
    main()
