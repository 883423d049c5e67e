"""Variables and directory of the ranks of this node, in a file that only the task's user can read.

horovodrun writes its own variables into the command lines of all ranks, on every node: tokens for anybody to see, slots
and directories of the first node, more than a command line can hold. So it gets few, and each rank comes here.
"""

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from determined.constants import ENV_CHIEF_IP, ENV_RUN_DIR
from determined.errors import FailedPrecondition
from determined.launch import environment

_NAME = "surroundings.json"
# Set by horovodrun for each rank, or by the user for Horovod: they go either way.
_ITS_OWN = re.compile(r"(HOROVOD|NCCL|OMPI|PMIX?|I_MPI|HYDRA|MPI)_")
_INTERFACES = ("HOROVOD_GLOO_IFACE", "NCCL_SOCKET_IFNAME")
_SHOWN = frozenset(
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH",
     "PYTHONUSERBASE", "PYTHONUNBUFFERED", "VIRTUAL_ENV", "TF_CPP_MIN_LOG_LEVEL", "USE_HOROVOD", ENV_RUN_DIR,
     ENV_CHIEF_IP]
)  # fmt: skip


def keep(run_dir: Path, variables: Mapping[str, str], interface: str | None) -> None:
    """Keep variables for the ranks that will be started on this node.

    `interface`: by which they reach other nodes. horovodrun knows only one name for all nodes.
    """
    file = run_dir / _NAME
    file.unlink(missing_ok=True)
    file.touch(mode=0o600)
    imposed = dict.fromkeys(_INTERFACES, interface) if interface is not None else {}
    file.write_text(json.dumps({"directory": str(Path.cwd()), "variables": dict(variables), "imposed": imposed}))


@contextlib.contextmanager
def listed(run_dir: Path) -> Iterator[None]:
    """List this process: the launcher of this node passes its signals on to it meanwhile."""
    entry = followers(run_dir) / str(os.getpid())
    entry.touch()
    try:
        yield
    finally:
        entry.unlink(missing_ok=True)


def followers(run_dir: Path) -> Path:
    directory = run_dir / "ranks"
    directory.mkdir(mode=0o700, exist_ok=True)
    return directory


def shown(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that anybody may see."""
    return {n: v for n, v in variables.items() if n in _SHOWN or n.startswith("LC_") or _ITS_OWN.match(n)}


def enter() -> Path:
    """Take on what the launcher of this node kept; its run directory."""
    run_dir = environment.run_dir()
    if run_dir is None:
        raise FailedPrecondition(f"{ENV_RUN_DIR} is no directory; ranks of Horovod run in tasks of a cluster")
    try:
        kept = json.loads((run_dir / _NAME).read_text())
        os.chdir(kept["directory"])
    except OSError as e:
        raise FailedPrecondition(f"no launcher has prepared this node for ranks of Horovod: {e}") from e
    given = {name: value for name, value in environment.variables().items() if _ITS_OWN.match(name)}
    environment.become(kept["variables"] | given | kept["imposed"])
    return run_dir
