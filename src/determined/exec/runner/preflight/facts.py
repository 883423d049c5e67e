"""Facts that a node sends to the others before a start: its address, and what its task would import."""

import json
import re
import shutil
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

import msgspec

from determined._version import __version__

# Directory names tell name and version: nothing is imported, and a broken package cannot break the question. What comes
# first on the path wins, as it does for an import.
_QUESTION = """
import json, os, sys
found = {}
for place in sys.path:
    try:
        names = sorted(os.listdir(place or "."))
    except OSError:
        continue
    for name in names:
        stem, _, kind = name.rpartition(".")
        if kind in ("dist-info", "egg-info") and "-" in stem:
            package, version = stem.split("-")[:2]
            found.setdefault(package.lower().replace("_", "-").replace(".", "-"), version)
print(json.dumps({"python": "%d.%d.%d" % sys.version_info[:3], "versions": found}))
"""


# Found by name on the path, as the interpreter that is asked; a trial class is run by it as well.
_BY_NAME = re.compile(r"(^|[\s;&|(])(python[0-9.]*|torchrun|deepspeed|horovodrun)(\s|$)|^[\w.]+:\w+$")


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of one node. Everything that a node may fail to find out has a default."""

    rank: int
    host: str
    node: str
    address: str
    interface: str | None = None  # that has the address
    port: int | None = None  # where it answers as long as the preflight lasts
    python: str | None = None
    versions: dict[str, str] = {}
    place: str | None = None  # the directory of checkpoints; None where they go to an object store
    mark: str | None = None  # what the chief has left there

    @property
    def name(self) -> str:
        return f"{self.node} (host {self.host}, rank {self.rank})"


@dataclass(frozen=True, slots=True)
class Packages:
    python: str
    versions: dict[str, str]


def installed(variables: dict[str, str], workdir: Path, seconds: float) -> Packages | None:
    """Return the packages that the task's own interpreter would import; None when it does not answer in time."""
    python = shutil.which("python3", path=variables.get("PATH"))
    if python is None:
        return None
    try:
        done = subprocess.run(
            [python, "-c", _QUESTION],
            capture_output=True, check=True, timeout=seconds, stdin=subprocess.DEVNULL, env=variables, cwd=workdir,
        )  # fmt: skip
        answer = json.loads(done.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None
    # A Python without determined gets the runner's own.
    return Packages(answer["python"], {"determined": __version__, **answer["versions"]})


def calls_python(entrypoint: str | list[str]) -> bool:
    """Check whether the entrypoint visibly runs on that interpreter: a script may well have one of its own."""
    text = entrypoint if isinstance(entrypoint, str) else " ".join(entrypoint)
    return _BY_NAME.search(text) is not None


def interfaces() -> dict[str, str]:
    """Return address -> name of the network interface that has it."""
    import psutil

    addresses = {}
    for name, entries in psutil.net_if_addrs().items():
        for entry in entries:
            if entry.family in (socket.AF_INET, socket.AF_INET6):
                addresses[entry.address.partition("%")[0]] = name
    return addresses


def resolved(address: str) -> str:
    """Return the numeric address of a host name; a numeric address stays as it is."""
    try:
        return str(socket.getaddrinfo(address, None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError:
        return address
