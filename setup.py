"""Builds the C library and the command with CMake and puts them into the package. See pyproject.toml."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent


def asked(name: str) -> bool:
    """Is this variable of the environment set to anything but 0?"""
    return os.environ.get(name, "0") not in ("", "0")


def compiled() -> Path:
    """The folder with the library and the command."""
    if "VOLERY_LIBRARY" in os.environ:  # built already
        return Path(os.environ["VOLERY_LIBRARY"]).parent
    build = ROOT / "build" / "python"
    gpu = "ON" if asked("VOLERY_CUDA") else "OFF"  # with nvcc on PATH or in CUDACXX
    cairo = "OFF" if asked("VOLERY_PORTABLE") else "ON"
    subprocess.run(["cmake", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DVOLERY_TESTS=OFF",
                    "-DVOLERY_PYTHON=ON", f"-DVOLERY_CUDA={gpu}", f"-DVOLERY_CAIRO={cairo}"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", build, "--target", "volery_python", "volery_app", "-j", str(os.cpu_count() or 1)],
                   check=True)
    return build


class Build(build_py):
    def run(self) -> None:
        super().run()
        build, package = compiled(), Path(self.build_lib) / "volery"
        shutil.copy2(build / "libvolery_python.so", package)
        (package / "bin").mkdir(exist_ok=True)
        shutil.copy2(build / "volery", package / "bin")
        # What the command looks for near itself: scenarios by name, and headers for a plug-in.
        for folder, files in (("scenarios", "**/*.*"), ("vehicles", "*.yaml"), ("include/volery", "*.h")):
            for file in (ROOT / folder).glob(files):
                to = package / folder / file.relative_to(ROOT / folder)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, to)


class Binary(Distribution):
    def has_ext_modules(self) -> bool:
        return True  # a wheel for this platform


class Wheel(bdist_wheel):
    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]  # ctypes: any Python 3 of this platform


version = re.search(r'VY_VERSION "([0-9.]+)"', (ROOT / "include/volery/version.h").read_text()).group(1)
setup(version=version, cmdclass={"build_py": Build, "bdist_wheel": Wheel}, distclass=Binary)
