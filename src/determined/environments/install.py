"""Installer of a lock as an environment on this machine: made once, however many tasks ask for it at once."""

import hashlib
import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from determined.config.pylock import count_packages, is_pylock
from determined.config.python_environment import PythonEnvironment
from determined.config.requirement_lines import entries, unhashed_entries, with_logins
from determined.environments import cache
from determined.environments.cache import Cached, Hold
from determined.environments.cache_directory import Place, base_python, libc, platform_tag
from determined.environments.interpreter import LINKED_PACKAGES, Interpreter, ask
from determined.environments.resolve import base_of, local_digests, sources_of
from determined.environments.uv import Uv, find_uv
from determined.errors import DeterminedError, FailedPrecondition

_POLL_SECONDS = 0.05
_LOOKS = 4
_SUPPORT = "determined-support"


@dataclass(frozen=True, slots=True)
class Environment:
    """Environment in use. `hold` keeps it from being removed while this process lives or until it is closed."""

    key: str
    interpreter: Interpreter
    hold: Hold


def provide(lock: str, wanted: PythonEnvironment, directory: Path, place: Place) -> Environment:
    """Provide the environment of that lock, made here and now if this machine has none yet.

    Raises:
        EnvironmentUnusable: it cannot be built, in uv's own words.
        FailedPrecondition: it could not be built this time.
    """
    key = key_of(lock, wanted, directory)
    hold = Hold(cache.lock_of(place, key))
    try:
        cached = _await(hold, place, key, lambda: _build(key, lock, wanted, directory, place, hold))
    except BaseException:
        hold.close()
        raise
    cache.touch(cached, time.time())
    return Environment(key, _interpreter(cached), hold)


def key_of(lock: str, wanted: PythonEnvironment, directory: Path) -> str:
    """Return the key of an environment: the same for environments that are the same."""
    python = base_python(wanted.version)
    seen = [
        cache.FORMAT,
        lock,
        platform_tag(wanted.version),
        python,
        libc(),
        local_digests(lock, base_of(wanted, directory)),
    ]
    return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()[:20]


def _await(hold: Hold, place: Place, key: str, build: Callable[[], None]) -> Cached:
    """Wait until the environment is ready and the lock shared. The process that gets the lock alone builds it."""
    looks = 0
    while True:
        if hold.share():
            cached = cache.read(place.environments / key)
            if cached is not None:
                return cached
            hold.release()
        if hold.take():
            if cache.read(place.environments / key) is None:
                build()
            continue
        looks += 1
        if looks == _LOOKS:  # listing and cleaning hold the lock for a moment too
            place.say(f"environment {key}: another task is building it; waiting")
        time.sleep(_POLL_SECONDS)


def _build(key: str, lock: str, wanted: PythonEnvironment, directory: Path, place: Place, hold: Hold) -> None:
    target, began = place.environments / key, time.time()
    cache.remove(target)
    place.say(f"environment {key}: building it; the next task that wants the same finds it ready")
    cache.clean(place, began, place.bounds)
    cache.forget_resolutions(place, began, place.bounds.days)
    try:
        answer, support = _make(lock, wanted, target, directory, place, hold)
        record = {
            "python": _python_version(target),
            "packages": _count(lock),
            "size": cache.size_of(target),
            "created": began,
            "seconds": round(time.time() - began, 3),
            "asked": list(LINKED_PACKAGES),
            "answer": answer,
            "support": support,
        }
        cache.publish(target, record)
    except BaseException:
        cache.remove(target)  # nobody may want it again, and a disk that is full would stay so
        raise
    place.say(f"environment {key}: built in {time.time() - began:.1f} s")


def _make(
    lock: str, wanted: PythonEnvironment, target: Path, directory: Path, place: Place, hold: Hold
) -> tuple[dict[str, object], str | None]:
    uv = find_uv(place)
    doing = "environment.python: making the environment"
    uv.run("venv", "--no-project", "--python", base_python(wanted.version), str(target), doing=doing, cwd=directory,
           held=hold.descriptor)  # fmt: skip
    _install(uv, lock, wanted, target, directory, hold)
    return _complete(uv, target, directory, hold)


def _install(uv: Uv, lock: str, wanted: PythonEnvironment, target: Path, directory: Path, hold: Hold) -> None:
    python, doing = str(target / "bin" / "python"), "environment.python: installing the packages"
    words, base = ["sync", "--python", python, "--allow-empty-requirements"], base_of(wanted, directory)
    if wanted.lock is not None and wanted.lock.endswith(".toml"):
        # By its name: packages beside it are found from where it lies.
        uv.pip(*words, Path(wanted.lock).name, doing=doing, cwd=base, held=hold.descriptor)
        return
    if not unhashed_entries(lock):
        # With hashes it is the same file from wherever it comes; else an index that has other versions hides the rest.
        words += ["--index-strategy", "unsafe-best-match"]
    text = with_logins(lock, sources_of(wanted, directory)) if "://" in lock else lock
    uv.pip(*words, text=text, doing=doing, cwd=base, held=hold.descriptor)


def _complete(uv: Uv, target: Path, directory: Path, hold: Hold) -> tuple[dict[str, object], str | None]:
    """Complete the environment with what a task needs besides its packages, and return what it says of itself.

    pip, for hooks that install more (beside the environment, never into it); and for another version of Python, in
    which compiled packages of ours do not load, those that determined needs and it lacks, in a directory of their own.
    """
    python = str(target / "bin" / "python")
    answer = _asked(python)
    _add_pip(uv, python, str(answer["wheels"]), directory, hold)
    interpreter = Interpreter.answered(python, answer)
    lacking = [name for name in interpreter.missing if name != "determined"]
    if interpreter.same_version or not lacking:
        return answer, None
    support = target / _SUPPORT
    words = ["install", "--python", python, "--target", str(support), "--requirements"]
    doing = f"environment.python: installing {', '.join(lacking)} for determined"
    uv.pip(*words, text=_own_versions(lacking), doing=doing, cwd=directory, held=hold.descriptor)
    return {**answer, "missing": [name for name in interpreter.missing if name not in lacking]}, str(support)


def _add_pip(uv: Uv, python: str, wheels: str, directory: Path, hold: Hold) -> None:
    """Install the pip that its Python brings along, which asks no index; else that of the index."""
    bundled = ["--no-index", "--find-links", wheels] if Path(wheels).is_dir() else []
    words = ["pip", "install", "--quiet", "--python", python, *bundled, "--requirements", "-"]
    try:
        uv.run(*words, doing="adding pip", cwd=directory, held=hold.descriptor, given="pip\n")
    except DeterminedError:
        return  # `pip install` in a hook then says what is missing


def _asked(python: str) -> dict[str, object]:
    try:
        return ask(python)
    except (OSError, subprocess.SubprocessError, ValueError) as e:
        raise FailedPrecondition(f"environment.python: {python} does not start: {e}") from e


def _own_versions(names: list[str]) -> str:
    """Return the releases that this very determined runs with."""
    from importlib.metadata import PackageNotFoundError, packages_distributions, version

    homes = packages_distributions()
    lines = []
    for name in names:
        distribution = next(iter(homes.get(name, [name])))
        try:
            lines.append(f"{distribution}=={version(distribution)}\n")
        except PackageNotFoundError:
            lines.append(f"{distribution}\n")
    return "".join(lines)


def _interpreter(cached: Cached) -> Interpreter:
    record = cached.record
    answer = record["answer"] if record["asked"] == list(LINKED_PACKAGES) else _asked(cached.python)
    return Interpreter.answered(cached.python, answer, record["support"])


def _python_version(target: Path) -> str:
    for line in (target / "pyvenv.cfg").read_text().splitlines():
        name, _, value = line.partition("=")
        if name.strip() in ("version_info", "version"):
            return value.strip()
    return ""


def _count(lock: str) -> int:
    if is_pylock(lock):
        return count_packages(lock)
    return sum(1 for entry in entries(lock) if not entry.startswith("-"))
