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
    *("ray[tune]", "syne-tune", "optuna", "scikit-learn", "matplotlib"),  # search
    *("lightning==2.6.*", "transformers==5.*", "accelerate", "pytorch-ignite"),  # training loops
    "orbax-checkpoint",  # saves that let training go on
    *("fsspec", "msgspec", "pathspec", "psutil", "PyYAML", "urllib3"),  # what determined needs where it runs among them
)
_HOME = Path(__file__).with_name(".venv-peers")


def peers_python() -> str:
    """A python that has every peer; built at the first call, minutes without uv."""
    python, stamp = _HOME / "bin" / "python", _HOME / ".stamp"
    wanted = hashlib.sha256("\n".join(PACKAGES).encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return str(python)
    sys.stderr.write("installing the peers into benchmarks/.venv-peers (once)\n")
    if not python.exists():
        make_environment(_HOME)
    install(str(python), PACKAGES)
    stamp.write_text(wanted)
    return str(python)


def official_python() -> str:
    """A python that has upstream's last client, which cannot share an environment with ours; as the tests have it."""
    root = Path(__file__).parents[1]
    if not (root / ".venv-official").exists():
        sys.stderr.write("installing upstream's client into .venv-official (once)\n")
        subprocess.run(["sh", str(root / "scripts" / "setup_official.sh"), str(root / ".venv-official")], check=True)
    return str(root / ".venv-official" / "bin" / "python")


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
