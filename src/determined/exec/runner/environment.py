"""The environment of a task, built from nothing: the master's own variables are not for tasks.

The one file of the runner that reads os.environ.
"""

import json
import os
import pwd
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from determined import constants as c
from determined.exec.runner.in_container import is_inside
from determined.rundir.layout import RunDir
from determined.wire.report import LaunchFile, TaskSpec

_INHERITED = frozenset(
    ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "LD_LIBRARY_PATH",
     *(f"{name}_{suffix}" for name in ("http", "https", "all", "no") for suffix in ("proxy",)),
     *(f"{name}_PROXY" for name in ("HTTP", "HTTPS", "ALL", "NO"))]
)  # fmt: skip
_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Variables of the runner and its own Python: installers do not get them.
_NOT_INSTALLERS = ("DET_", "PYTHON", "VIRTUAL_ENV", "CONDA_")
_CACHE = (c.ENV_ENVIRONMENT_CACHE, c.ENV_ENVIRONMENT_CACHE_DAYS, c.ENV_ENVIRONMENT_CACHE_GIB)
# Linux refuses to start a program with a longer string (MAX_ARG_STRLEN, 128 KiB).
_LONGEST = 120 * 1024


def inherited(*, whole: bool = False) -> dict[str, str]:
    """Return the runner's variables that a task may have. `whole`: all of them, because they are its own image's."""
    kept = {n: v for n, v in os.environ.items() if whole or n in _INHERITED or n.startswith("LC_")}
    kept.setdefault("PATH", _DEFAULT_PATH)
    return kept


def build(launch: LaunchFile, spec: TaskSpec, run_dir: RunDir, python: dict[str, str], workdir: Path) -> dict[str, str]:
    """Return all variables of the task but those of its temporary directory; the user's own come last and win."""
    result = inherited(whole=is_inside(launch)) | _names(spec)
    if not is_inside(launch):
        result.pop("TMPDIR", None)
    result["HOME"] = _home(result.get("HOME", "/"), run_dir)
    result |= _cluster(launch, spec, run_dir, workdir) | _trial(spec) | _devices(launch)
    result |= {name: str(port) for name, port in spec.ports.items()}
    search = result["PATH"]
    result |= python
    result["PATH"] = os.pathsep.join([python["PATH"], search])
    return _with_users(result, spec.environment)


def own() -> dict[str, str]:
    """Return all variables of this process."""
    return dict(os.environ)


def replace(variables: Mapping[str, str]) -> None:
    """Give this process these variables and no others."""
    os.environ.clear()
    os.environ.update(variables)


def temporary_root() -> str:
    """Return the directory for temporary files on this node, as its scheduler or administrator has chosen it."""
    return tempfile.gettempdir()


def for_installer(spec: TaskSpec, run_dir: RunDir) -> dict[str, str]:
    """Return the variables for package installers: this node's own indexes, proxies, certificates, caches.

    The user's variables come last here too: an index, or a login for one, may be the experiment's own. By the
    variable of the run directory the orphan killer finds what a killed runner leaves, such as a compiler of uv's.
    """
    result = {n: v for n, v in os.environ.items() if n in _CACHE or not n.startswith(_NOT_INSTALLERS)}
    home = _home(result.get("HOME", "/"), run_dir)
    if home != result.get("HOME"):
        result = {n: v for n, v in result.items() if not n.startswith("XDG_")}
    return _with_entries({**result, "HOME": home, c.ENV_RUN_DIR: str(run_dir.path)}, spec.environment)


def user_value(spec: TaskSpec, name: str) -> str | None:
    """Return the value the user's `environment_variables` give to a name."""
    values = [entry.partition("=")[2] for entry in spec.environment if entry.startswith(name + "=")]
    return values[-1] if values else None


def drop_oversized(variables: dict[str, str]) -> list[str]:
    """Remove what no program could be started with; the names that went."""
    names = [name for name, value in variables.items() if len(name) + len(os.fsencode(value)) > _LONGEST]
    for name in names:
        del variables[name]
    return names


def _with_users(variables: dict[str, str], entries: list[str]) -> dict[str, str]:
    python_path = variables["PYTHONPATH"]
    variables = _with_entries(variables, entries)
    if variables.get("PYTHONPATH", python_path) != python_path:
        variables["PYTHONPATH"] = os.pathsep.join([variables["PYTHONPATH"], python_path])
    return variables


def _with_entries(variables: dict[str, str], entries: list[str]) -> dict[str, str]:
    for entry in entries:
        name, given, value = entry.partition("=")
        if given:
            variables[name] = value
        else:
            # A bare name removes the variable, as with containers.
            variables.pop(name, None)
    return variables


def _names(spec: TaskSpec) -> dict[str, str]:
    """Return USER and LOGNAME for an OS user without an entry here, as in images: libraries ask who runs them."""
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        return {"USER": spec.username, "LOGNAME": spec.username}
    return {}


def _home(inherited_home: str, run_dir: RunDir) -> str:
    """Return a home that belongs to this user, not to the user who runs the master; without one, the run directory."""
    try:
        if inherited_home != "/" and Path(inherited_home).stat().st_uid == os.getuid():
            return inherited_home
        own = pwd.getpwuid(os.getuid()).pw_dir
    except (KeyError, OSError):
        return str(run_dir.path)
    return own if own != "/" and Path(own).is_dir() else str(run_dir.path)


def _cluster(launch: LaunchFile, spec: TaskSpec, run_dir: RunDir, workdir: Path) -> dict[str, str]:
    url = urlsplit(launch.master_url)
    tls = url.scheme == "https"
    result = {
        c.ENV_MASTER: launch.master_url,
        c.ENV_MASTER_HOST: url.hostname or "",
        c.ENV_MASTER_ADDR: url.hostname or "",
        c.ENV_MASTER_PORT: str(url.port or (443 if tls else 80)),
        c.ENV_MASTER_ID: spec.master_id,
        c.ENV_CLUSTER_ID: spec.cluster_id,
        c.ENV_AGENT_ID: launch.node_id,
        c.ENV_CONTAINER_ID: launch.container_id,
        c.ENV_RESOURCES_ID: launch.resource_id,
        c.ENV_RESOURCES_TYPE: launch.resources_type,
        c.ENV_SLOT_IDS: json.dumps(launch.slot_ids),
        c.ENV_TASK_ID: spec.task_id,
        c.ENV_TASK_TYPE: spec.task_type,
        c.ENV_ALLOCATION_ID: launch.allocation_id,
        c.ENV_SESSION_TOKEN: launch.token,
        c.ENV_USER: spec.username,
        c.ENV_WORKDIR: str(workdir),
        c.ENV_RUN_DIR: str(run_dir.path),
        "DET_USE_TLS": str(tls).lower(),
        "DET_TASK_LOGGING_METADATA": json.dumps({"allocation_id": launch.allocation_id, "task_id": spec.task_id}),
    }
    optional = {
        c.ENV_USER_TOKEN: spec.user_token,
        c.ENV_MASTER_CERT_FILE: launch.master_cert_file,
        c.ENV_MASTER_CERT_NAME: launch.master_cert_name,
        c.ENV_INTER_NODE_NETWORK_INTERFACE: spec.network_interface,
        c.ENV_DEBUG: "1" if spec.debug else None,
    }
    return result | {name: value for name, value in optional.items() if value is not None}


def _trial(spec: TaskSpec) -> dict[str, str]:
    if spec.trial_id is None:
        return {}
    result = {
        c.ENV_TRIAL_ID: str(spec.trial_id),
        c.ENV_EXPERIMENT_ID: str(spec.experiment_id),
        c.ENV_TRIAL_SEED: str(spec.trial_seed or 0),
        c.ENV_TRIAL_RUN_ID: str(spec.trial_run_id or 0),
        c.ENV_HPARAMS: json.dumps(spec.hparams or {}),
        c.ENV_EXPERIMENT_CONFIG: json.dumps(spec.config or {}),
        c.ENV_STEPS_COMPLETED: str(spec.steps_completed),
    }
    if spec.latest_checkpoint is not None:
        result[c.ENV_LATEST_CHECKPOINT] = spec.latest_checkpoint
    return result


def _devices(launch: LaunchFile) -> dict[str, str]:
    """Return the variables that select the task's accelerators. On a machine without any there are none."""
    slots = ",".join(map(str, launch.slot_ids)) if launch.visible_devices is None else launch.visible_devices
    if launch.device == "cuda":
        # Slots are numbered as nvidia-smi numbers devices, by bus; CUDA by itself would number them by speed.
        return {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": slots}
    if launch.device == "rocm":
        return {"ROCR_VISIBLE_DEVICES": slots}
    hidden = {}
    if any(Path("/dev").glob("nvidia[0-9]*")):
        hidden["CUDA_VISIBLE_DEVICES"] = ""
    if Path("/dev/kfd").exists():
        hidden["ROCR_VISIBLE_DEVICES"] = ""
    return hidden
