"""Finding uv and running it: its words as they come, and what a failure of it means."""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from determined.environments.place import Place
from determined.errors import EnvironmentUnusable, FailedPrecondition

# uv's settings that pip has under another name; what is said to uv itself wins.
_FROM_PIP = {
    "UV_FIND_LINKS": "PIP_FIND_LINKS",
    "UV_INDEX_URL": "PIP_INDEX_URL",
    "UV_EXTRA_INDEX_URL": "PIP_EXTRA_INDEX_URL",
    "SSL_CERT_FILE": "PIP_CERT",
}
_SYSTEM_CERTS = (
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)  # fmt: skip
_SEPARATORS = {"UV_FIND_LINKS": ","}  # of several; pip has spaces
_OTHER_INDEX_NAMES = {"UV_INDEX_URL": ("UV_DEFAULT_INDEX",), "UV_EXTRA_INDEX_URL": ("UV_INDEX",)}
# Lines that say nothing about the packages.
_CHATTER = re.compile(r"^(\s*[+~-] |Using |Creating virtual|Activate with|warning: .*(hardlink|link mode)|\s+If )")
# Failures that pass: the same request may succeed a minute later, or on another node.
_PASSING = re.compile(
    r"error sending request|timed out|[Cc]onnection (refused|reset|closed|error)|dns error|HTTP status server error"
    r"|No space left on device|Too many open files|Disk quota exceeded|Read-only file system"
)
_TRUE = ("1", "true", "yes", "on")
_INSTALL_SECONDS = 300
_MISSING = (
    "environment.python needs uv, which is not installed here; install it on this machine (pip install uv, or see"
    " https://docs.astral.sh/uv) where the PATH of the master or agent finds it"
)


_found: dict[tuple[str, Path], list[str]] = {}  # by PATH and cache: a task asks for it two or three times


class Uv:
    """One way to start uv. `held` is a descriptor that stays open as long as uv runs: a lock on what it writes."""

    def __init__(self, command: Sequence[str], place: Place) -> None:
        self._command = list(command)
        self._place = place
        self._variables = translated(place.variables)

    def pip(self, *arguments: str, text: str, doing: str, cwd: Path, held: int | None = None) -> str:
        """`uv pip ...` on the requirements in `text`, given as input: relative paths in it are relative to `cwd`."""
        alone = ["--no-index"] if self._variables.get("PIP_NO_INDEX", "").lower() in _TRUE else []
        verb, *rest = arguments
        return self.run("pip", verb, *alone, *rest, "-", doing=doing, cwd=cwd, held=held, given=text)

    def run(self, *arguments: str, doing: str, cwd: Path, held: int | None = None, given: str = "") -> str:
        """Its standard output. Its words are told as they come.

        Raises:
            EnvironmentUnusable: what was asked cannot be had; the message has uv's own words.
            FailedPrecondition: it failed for a reason that may pass.
        """
        with TemporaryFile("w+") as output, TemporaryFile("w+") as source:
            source.write(given)
            source.seek(0)
            process = subprocess.Popen(
                [*self._command, *arguments],
                stdin=source, stdout=output, stderr=subprocess.PIPE, text=True, errors="replace",
                cwd=cwd, env=self._variables, pass_fds=[] if held is None else [held],
                preexec_fn=self._place.in_child,  # noqa: PLW1509 (one system call; see Place)
            )  # fmt: skip
            with process:
                assert process.stderr is not None
                told = self._tell(process.stderr)
            if process.returncode == 0:
                output.seek(0)
                return output.read()
        raise failure(process.returncode, "\n".join(told), doing)

    def _tell(self, lines: IO[str]) -> list[str]:
        told = []
        for line in lines:
            text = line.rstrip()
            told.append(text)
            if text and not _CHATTER.match(text) and not text.startswith(("error", "  cause", "   ")):
                self._place.say(f"uv: {text}")
        return told


def find_uv(place: Place) -> Uv:
    """On PATH, beside our own Python, in our cache, or put there by pip. Raises EnvironmentUnusable."""
    path = place.variables.get("PATH", "")
    if (path, place.root) not in _found:
        _found[path, place.root] = _find(path, place)
    return Uv(_found[path, place.root], place)


def translated(variables: Mapping[str, str]) -> dict[str, str]:
    """The surroundings with pip's settings under uv's names; certificates of the system count."""
    result = dict(variables)
    # Small images have none, and uv, told to use them, would not start; it brings some of its own.
    if any(Path(path).exists() for path in (variables.get("SSL_CERT_FILE", ""), *_SYSTEM_CERTS) if path):
        result.setdefault("UV_SYSTEM_CERTS", "true")
    for name, pip_name in _FROM_PIP.items():
        taken = any(result.get(other) for other in (name, *_OTHER_INDEX_NAMES.get(name, ())))
        if not taken and variables.get(pip_name):
            words = variables[pip_name].split()
            result[name] = (_SEPARATORS.get(name) or " ").join(words)
    # A message is read in a log, not on a terminal.
    return {**result, "NO_COLOR": "1", "UV_NO_PROGRESS": "1"}


def failure(status: int, words: str, doing: str) -> EnvironmentUnusable | FailedPrecondition:
    said = words.strip() or f"uv ended with status {status} and said nothing"
    if _PASSING.search(said) or status < 0:
        return FailedPrecondition(f"{doing} failed on this machine; uv says:\n{said}")
    return EnvironmentUnusable(f"{doing} failed; uv says:\n{said}")


def _find(path: str, place: Place) -> list[str]:
    on_path = shutil.which("uv", path=path)
    if on_path is not None and _works([on_path], place):
        return [on_path]
    beside = [sys.executable, "-m", "uv"]
    if find_spec("uv") is not None and _works(beside, place):
        return beside
    cached = [str(place.root / "uv" / "bin" / "uv")]
    if not _works(cached, place):
        _install(place)
    return cached


def _works(command: list[str], place: Place) -> bool:
    """A name on PATH may be a shim for a uv that is not there."""
    try:
        done = subprocess.run(
            [*command, "--version"],
            stdin=subprocess.DEVNULL, capture_output=True, env=dict(place.variables), check=False, timeout=60,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def _install(place: Place) -> None:
    if find_spec("pip") is None:
        raise EnvironmentUnusable(_MISSING)
    target = place.root / "uv"
    place.say("uv is not installed here; installing it with pip into our own cache")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--target", str(target), "uv"]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            env=dict(place.variables), check=False, timeout=_INSTALL_SECONDS,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as e:
        raise EnvironmentUnusable(f"{_MISSING}\npip could not install it either: {e}") from e
    if done.returncode != 0 or not _works([str(target / "bin" / "uv")], place):
        raise EnvironmentUnusable(f"{_MISSING}\npip could not install it either:\n{done.stderr.strip()}")
