"""Builds the C library with CMake and puts it beside the package's modules. See pyproject.toml."""

import os
import re
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent


class Build(build_py):
    def run(self) -> None:
        super().run()
        folder = os.path.join(self.build_lib, "volery")
        if "VOLERY_LIBRARY" in os.environ:  # built already
            self.copy_file(os.environ["VOLERY_LIBRARY"], folder)
            return
        build = ROOT / "build" / "python"
        gpu = "ON" if os.environ.get("VOLERY_CUDA", "0") not in ("", "0") else "OFF"  # with nvcc on PATH or in CUDACXX
        subprocess.run(["cmake", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DVOLERY_TESTS=OFF",
                        "-DVOLERY_PYTHON=ON", f"-DVOLERY_CUDA={gpu}"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", build, "--target", "volery_python", "-j", str(os.cpu_count() or 1)],
                       check=True)
        self.copy_file(str(build / "libvolery_python.so"), folder)


class Binary(Distribution):
    def has_ext_modules(self) -> bool:
        return True  # a wheel for this platform


version = re.search(r'VY_VERSION "([0-9.]+)"', (ROOT / "include/volery/version.h").read_text()).group(1)
setup(version=version, cmdclass={"build_py": Build}, distclass=Binary)
