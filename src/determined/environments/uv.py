"""Client of uv: how it is found and run, its messages as they come, and the meaning of its failures."""

import re
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from determined.config.requirement_lines import without_logins
from determined.environments.cache import Hold
from determined.environments.cache_directory import Place
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
_CHATTER = re.compile(
    r"^(\s*[+~-] |Using |Creating virtual|Activate with|warning: .*(hardlink|link mode|`--pylock` option)|\s)"
)
_ERROR = re.compile(r"error|\s*\u00d7")  # the second in releases before its errors were plain text
# Failures that pass: the same request may succeed a minute later, or on another node. First those of an index.
_UNREACHED = re.compile(
    r"Request failed after|error sending request|timed out|[Cc]onnection (refused|reset|closed|error)|dns error"
    r"|HTTP status server error"
)
_PASSING = re.compile(
    rf"{_UNREACHED.pattern}|No space left on device|Too many open files|Disk quota exceeded|Read-only file system"
)
_OTHER_HASH = re.compile(r"(Hash mismatch for \S+)[\s\S]*\bsha256:\w+\s*$")
_INDEXES = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL")
_PYPI = "https://pypi.org/simple"
# Kept of a failed build's output: compilers fill logs, and the cause is near the start or the end.
_FIRST_LINES, _LAST_LINES, _LINE_CHARACTERS = 50, 150, 2000
_TRUE = ("1", "true", "yes", "on")
_INSTALL_SECONDS = 300
_MISSING = (
    "environment.python needs uv, which is not installed here; install it on this machine (pip install uv, or see"
    " https://docs.astral.sh/uv) where the PATH of the master or agent finds it"
)


_found: dict[tuple[str, Path], list[str]] = {}  # by PATH and cache: a task asks for it two or three times


class Uv:
    """Command that runs uv. `held` is a descriptor that stays open as long as uv runs: a lock on what it writes."""

    def __init__(self, command: Sequence[str], place: Place) -> None:
        self._command = list(command)
        self._place = place
        self._variables = translated(place.variables)

    def pip(
        self, verb: str, *rest: str, doing: str, cwd: Path, held: int | None = None, text: str | None = None
    ) -> str:
        """Run `uv pip VERB ...` on the requirements in `text`, whose paths are relative to `cwd`, or else on a file."""
        alone = ["--no-index"] if self._variables.get("PIP_NO_INDEX", "").lower() in _TRUE else []
        source = [] if text is None else ["-"]
        return self.run("pip", verb, *alone, *rest, *source, doing=doing, cwd=cwd, held=held, given=text or "")

    def run(self, *arguments: str, doing: str, cwd: Path, held: int | None = None, given: str = "") -> str:
        """Run uv and return its standard output. Its messages are reported as they come.

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
                verdict = self._tell(process.stderr)
            if process.returncode == 0:
                output.seek(0)
                return output.read()
        raise failure(process.returncode, "\n".join(verdict), doing, self._indexes())

    def _tell(self, lines: IO[str]) -> list[str]:
        """Return the lines of a failure: its error and all after it. Lines before it are reported at once."""
        verdict, said = _Ends(), _Ends()
        for line in lines:
            text = without_logins(line.rstrip(), "****@")[:_LINE_CHARACTERS]
            if verdict.count or _ERROR.match(text):
                verdict.add(text)
                continue
            said.add(text)
            if text and not _CHATTER.match(text):
                self._place.say(f"uv: {text}")
        return verdict.lines() or said.lines()

    def _indexes(self) -> str:
        """Return the package indexes of this machine; uv leaves them out of some of its errors."""
        named = [self._variables[name] for name in _INDEXES if self._variables.get(name)]
        return without_logins(", ".join(named) or _PYPI, "****@")


class _Ends:
    """The first lines of many, and the last."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self._last: deque[str] = deque(maxlen=_LAST_LINES)
        self.count = 0

    def add(self, line: str) -> None:
        self.count += 1
        if len(self._first) < _FIRST_LINES:
            self._first.append(line)
        else:
            self._last.append(line)

    def lines(self) -> list[str]:
        left_out = self.count - len(self._first) - len(self._last)
        return [*self._first, *([f"... {left_out} lines left out ..."] if left_out else []), *self._last]


def find_uv(place: Place) -> Uv:
    """Find uv on PATH, beside our own Python or in our cache, or install it there by pip.

    Raises EnvironmentUnusable.
    """
    path = place.variables.get("PATH", "")
    if (path, place.root) not in _found:
        _found[path, place.root] = _find(path, place)
    return Uv(_found[path, place.root], place)


def translated(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with pip's settings under uv's names; certificates of the system count."""
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


def failure(status: int, words: str, doing: str, indexes: str = _PYPI) -> EnvironmentUnusable | FailedPrecondition:
    """Return the error of a failed uv. `indexes`: named where one did not answer."""
    said = words.strip() or f"uv ended with status {status} and said nothing"
    if _UNREACHED.search(said):
        return FailedPrecondition(
            f"{doing} failed on this machine, whose index is {indexes} unless the requirements name another; "
            f"uv says:\n{said}"
        )
    if _PASSING.search(said) or status < 0:
        return FailedPrecondition(f"{doing} failed on this machine; uv says:\n{said}")
    if other := _OTHER_HASH.search(said):  # its last words, which stand for all in a list, are the hash alone
        said += f"\n{other[1]}: make the lock anew, or correct it"
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
        _install_once(cached, place)
    return cached


def _works(command: list[str], place: Place) -> bool:
    """Check whether a command works: a name on PATH may be a shim for a uv that is not there."""
    try:
        done = subprocess.run(
            [*command, "--version"],
            stdin=subprocess.DEVNULL, capture_output=True, env=dict(place.variables), check=False, timeout=60,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def _install_once(command: list[str], place: Place) -> None:
    """Install uv in one of the tasks that lack it: pip would remove it under tasks that already run it."""
    if find_spec("pip") is None:
        raise EnvironmentUnusable(_MISSING)
    hold = Hold(place.root / "uv.lock")
    try:
        hold.await_turn()
        if not _works(command, place):
            _install(place)
    finally:
        hold.close()


def _install(place: Place) -> None:
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
