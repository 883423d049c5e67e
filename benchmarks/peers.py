"""The programs we measure ourselves against, in a virtual environment of their own beside this file."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

# torch is pinned: any other choice pulls gigabytes of CUDA (the local wheel is found through PIP_FIND_LINKS).
PACKAGES = (
    "torch==2.13.0",
    *("tensorboard", "trackio", "wandb", "mlflow", "numpy"),  # tracking
    *("ray[tune]", "syne-tune", "optuna", "optuna-integration[botorch]", "scikit-learn", "matplotlib"),  # search
    *("lightning==2.6.*", "transformers==5.*", "accelerate", "pytorch-ignite"),  # training loops
    *("fsspec", "msgspec", "pathspec", "psutil", "PyYAML", "urllib3"),  # what determined needs where it runs among them
)
# The last release with MOBSTER and Hyper-Tune; it needs a numpy, and with it a scipy, of before 2.
SYNE_TUNE_PACKAGES = ("syne-tune[gpsearchers]==0.13.0", "pandas<3", "scipy<1.15", "autograd<1.8")
_HOME = Path(__file__).with_name(".venv-peers")
_SYNE_TUNE_HOME = Path(__file__).with_name(".venv-syne-tune")


def peers_python() -> str:
    """A python that has every peer; built at the first call, minutes without uv."""
    return _python_with(PACKAGES, _HOME)


def syne_tune_python() -> str:
    """A python that has the model-based searches of Syne Tune."""
    return _python_with(SYNE_TUNE_PACKAGES, _SYNE_TUNE_HOME)


def _python_with(packages: tuple[str, ...], home: Path) -> str:
    python, stamp = home / "bin" / "python", home / ".stamp"
    wanted = hashlib.sha256("\n".join(packages).encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return str(python)
    sys.stderr.write(f"installing the peers into benchmarks/{home.name} (once)\n")
    if not python.exists():
        make_environment(home)
    install(str(python), packages)
    stamp.write_text(wanted)
    return str(python)


def make_environment(home: Path) -> None:
    uv = shutil.which("uv")
    command = [uv, "venv", "-q", "--python", sys.executable] if uv else [sys.executable, "-m", "venv"]
    subprocess.run([*command, str(home)], check=True)


def install(python: str, packages: tuple[str, ...], *options: str) -> None:
    """With bytecode, as pip leaves an installation: an import measured afterwards must not pay for compiling."""
    uv = shutil.which("uv")
    if uv:
        command = [uv, "pip", "install", "-q", "--system-certs", "--compile-bytecode", "--python", python]
    else:
        command = [python, "-m", "pip", "install", "-q"]
    links = os.environ.get("UV_FIND_LINKS") or os.environ.get("PIP_FIND_LINKS", "")
    subprocess.run([*command, *options, *packages], check=True, env={**os.environ, "UV_FIND_LINKS": links})


def environment(**more: str) -> dict[str, str]:
    """For a measured process: bytecode may be cached, nothing reaches the network, one thread does the numbers."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("DET_") and k != "PYTHONDONTWRITEBYTECODE"}
    quiet = {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "1", "WANDB_MODE": "offline", "OMP_NUM_THREADS": "1"}
    return {**kept, **quiet, "OPENBLAS_NUM_THREADS": "1", **more}
