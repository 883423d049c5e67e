"""Kernel of a notebook: the task's own Python, by a kernel spec that comes before every other.

A Python without ipykernel gets that of a shared environment, which this node builds once, at the end of its search
path: what the user has installed wins, and nothing is written into the user's environment. (PYTHONPATH would come
first, and would reach every program that a cell starts.)
"""

import json
import platform
import sys
from importlib.util import find_spec
from pathlib import Path

from determined.environments import programs
from determined.environments.cache_directory import Place
from determined.environments.install import Environment
from determined.environments.programs import Program
from determined.exec.service_program import say

IPYKERNEL = Program("ipykernel", ("ipykernel>=7,<8",), "notebook")
_NAME = "python3"  # Jupyter's name of the kernel that new notebooks get


class Kernel:
    """The kernel's command. `shared` is held as long as this lives: nobody removes an environment in use."""

    def __init__(self, argv: list[str], shared: Environment | None = None) -> None:
        self.argv = argv
        self._shared = shared

    def write_spec(self, data_dir: Path) -> None:
        """Write the kernel spec into a data directory of Jupyter."""
        directory = data_dir / "kernels" / _NAME
        directory.mkdir(parents=True, exist_ok=True)
        spec = {
            "argv": [*self.argv, "-f", "{connection_file}"],
            "display_name": f"Python {platform.python_version()}",
            "language": "python",
            "metadata": {"debugger": True},
        }
        (directory / "kernel.json").write_text(json.dumps(spec))


def find_kernel(place: Place) -> Kernel:
    """Return the kernel of the Python that runs this. Raises FailedPrecondition."""
    if find_spec("ipykernel") is not None:
        return Kernel([sys.executable, "-m", "ipykernel_launcher"])
    say("INFO", f"{sys.executable} has no ipykernel; its kernels use one of this node")
    shared = programs.provide(IPYKERNEL, place)
    start = str(Path(__file__).with_name("start_kernel.py"))
    return Kernel([sys.executable, start, packages_of(shared)], shared)


def packages_of(environment: Environment) -> str:
    """Return the directory in which an environment has its packages."""
    root, version = Path(environment.interpreter.prefix), sys.version_info
    return str(root / "lib" / f"python{version[0]}.{version[1]}" / "site-packages")
