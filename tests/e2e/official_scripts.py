"""Scripts of users that run outside of the cluster with the official client, determined==0.38.1.

It writes each metric for TensorBoard as well, with torch and tensorboard. No environment here has both beside it, so a
writer that does nothing stands in for them: its TensorBoard files are not tested.
"""

import os
import subprocess
from pathlib import Path
from typing import Any

from cluster import HANG_SECONDS, Cluster, clean_environment, official_python

WRITER = """
class SummaryWriter:
    def __init__(self, *_, **__): pass
    def __getattr__(self, _): return lambda *_, **__: None
"""
SITE = f"""
import importlib.util, sys, types
{WRITER}
if importlib.util.find_spec("torch") is None:  # under Ray, which would use a torch that is there
    name = "determined.tensorboard.metric_writers.pytorch"
    sys.modules[name] = written = types.ModuleType(name)
    written._TorchWriter = SummaryWriter
sys.modules["torch.utils.tensorboard"] = written = types.ModuleType("torch.utils.tensorboard")
written.SummaryWriter = SummaryWriter
"""


def run(cluster: Cluster, home: Path, *words: str, cwd: Path) -> Any:
    """Run a script with the official client's Python."""
    package = home / "path" / "torch" / "utils" / "tensorboard"
    package.mkdir(parents=True, exist_ok=True)
    (package.parents[1] / "__init__.py").write_text("__version__ = '2.0'\n")
    (package.parent / "__init__.py").touch()
    (package / "__init__.py").write_text(WRITER)
    return start(cluster, home, official_python(), str(home / "path"), *words, cwd=cwd)


def run_beside(cluster: Cluster, home: Path, python: str, *words: str, cwd: Path) -> Any:
    """Run a script with a Python that has a framework, and with the official client instead of our package."""
    packages = next(official_python().parents[1].glob("lib/python3*/site-packages"))
    (home / "sitecustomize.py").write_text(SITE)
    path = f"{home}{os.pathsep}{packages}"
    version = start(cluster, home, python, path, "-c", "import determined as d; print(d.__version__)", cwd=cwd)
    assert version.stdout.strip() == "0.38.1", version.stdout + version.stderr
    return start(cluster, home, python, path, *words, cwd=cwd)


def start(cluster: Cluster, home: Path, python: Path | str, path: str, *words: str, cwd: Path) -> Any:
    variables = clean_environment(
        HOME=str(home), DET_MASTER=cluster.url, DET_USER="determined", DET_PASS="", PYTHONPATH=path
    )
    return subprocess.run(
        [str(python), *words], env=variables, cwd=cwd, capture_output=True, text=True, timeout=HANG_SECONDS, check=False
    )
