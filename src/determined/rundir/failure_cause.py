"""Cause of a failed trial, from the last lines of its log: what failed, where in the user's code, why, what to do."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from determined._removed_names import removed_name
from determined.rundir.distribution_names import distribution_of

_BEGIN = "Traceback (most recent call last):"
# The second is of an exception in a worker of a DataLoader, which torch raises again with all of its text.
_BEGINS = frozenset([_BEGIN, f"Original {_BEGIN}"])
_FRAME = re.compile(r'^\s+File "(?P<file>.+?)", line (?P<line>\d+)(?:, in (?P<function>.+))?$')
_ERROR = re.compile(r"^(?P<type>[A-Za-z_](?:[\w.]|<locals>)*)(?:: (?P<text>.*))?$")
_RUN_START = re.compile(r"^(assigned to|started on) ")
_ENDED = re.compile(r"^allocation ended \(.*?\): (?:node \d+ \(.*?\): )?(?P<reason>.*)", re.DOTALL)
_NO_SCRIPT = re.compile(r"^\S*python\S*: can't open file '(.+)': \[Errno 2\]")
_NO_SCRIPT_ADVICE = (
    "the submitted directory does not hold it, or .detignore leaves it out",
    "correct `entrypoint`, or the directory that follows the config in `det e create`",
)
_WORKDIR = "/workdir/"  # a run directory's copy of what the user submitted


@dataclass(frozen=True, slots=True)
class LogLine:
    text: str
    source: str | None = None  # task, agent, master
    process: tuple[str | None, int | None] = (None, None)  # container and rank: tracebacks of two are interleaved


@dataclass(frozen=True, slots=True)
class Frame:
    file: str
    line: int
    function: str | None
    code: str | None

    def describe(self) -> str:
        place = f"{self.file}, line {self.line}"
        if self.function and self.function != "<module>":
            place += f", in {self.function}"
        return f"{place}: {self.code}" if self.code else place


@dataclass(frozen=True, slots=True)
class Cause:
    """Cause of a trial's failure; unknown parts are None."""

    what: str | None = None
    where: str | None = None
    likely: str | None = None
    advice: str | None = None

    def describe(self) -> str:
        """Return all of it in one line."""
        what = f"{self.what} ({self.where})" if self.where else self.what or ""
        return f"{what}: {self.likely}; {self.advice}" if self.likely else what


def find_cause(lines: Sequence[LogLine], *, python: str | None = None) -> Cause:
    """Find the cause in the last run of a log, its oldest line first.

    `python`: the interpreter of the task, if known.
    """
    last_run = _last_run(lines)
    tracebacks = [traceback for group in _by_process(last_run) if (traceback := _last_traceback(group)) is not None]
    tracebacks.sort(key=lambda traceback: traceback[0])  # of several ranks, the first that failed
    reason = next((m["reason"] for line in reversed(last_run) if (m := _ENDED.match(line.text))), None)
    if tracebacks:
        _, error, frames = tracebacks[0]
        return _known(error, _own_frame(frames), python, _EXCEPTIONS)
    script = next((m[1] for line in last_run if line.source != "master" and (m := _NO_SCRIPT.match(line.text))), None)
    if script is not None:
        return Cause(f"Python finds no file {script.partition(_WORKDIR)[2] or script}", None, *_NO_SCRIPT_ADVICE)
    return _known(reason or "", None, python, (*_ENDS, *_EXCEPTIONS))


def _last_run(lines: Sequence[LogLine]) -> Sequence[LogLine]:
    starts = [i for i, line in enumerate(lines) if line.source == "master" and _RUN_START.match(line.text)]
    return lines[starts[-1] :] if starts else lines


def _by_process(lines: Iterable[LogLine]) -> list[list[tuple[int, str]]]:
    """Return the task's own lines, numbered, by process."""
    groups: dict[tuple[str | None, int | None], list[tuple[int, str]]] = {}
    for number, line in enumerate(lines):
        if line.source in (None, "task"):
            groups.setdefault(line.process, []).append((number, line.text))
    return list(groups.values())


def _last_traceback(numbered: Sequence[tuple[int, str]]) -> tuple[int, str, list[Frame]] | None:
    """Return the last exception: the number of its line, its text, and its frames, outermost first."""
    lines = [text for _, text in numbered]
    begins = [i for i, text in enumerate(lines) if text.strip() in _BEGINS]
    if not begins:
        return None
    frames: list[Frame] = []
    for i in range(begins[-1] + 1, len(lines)):
        match = _FRAME.match(lines[i])
        if match:
            code = lines[i + 1].strip() if i + 1 < len(lines) and not _FRAME.match(lines[i + 1]) else None
            frames.append(Frame(match["file"], int(match["line"]), match["function"], code))
        elif lines[i][:1].strip() and _ERROR.match(lines[i]):
            return numbered[i][0], lines[i], frames
    return None


def _own_frame(frames: Sequence[Frame]) -> Frame | None:
    """Return the innermost line of the user's own code, its path as in the directory that was submitted."""
    for frame in reversed(frames):
        _, own, path = frame.file.partition(_WORKDIR)
        if own and "site-packages" not in path:
            return Frame(path, frame.line, frame.function, frame.code)
    return frames[-1] if frames else None


def _known(error: str, frame: Frame | None, python: str | None, rules: "Iterable[_Rule]") -> Cause:
    likely, advice = _explain(error, rules)
    if advice and python:
        advice = advice.replace(_ACTIVE, f"{python}, which runs the task")
    return Cause(error or None, frame.describe() if frame else None, likely, advice)


_ACTIVE = "the environment that is active when you submit"


# The index has upstream's releases under these names: never advise to install or pin them.
_OURS = frozenset(["determined", "determined_common", "redetermined"])


def _missing_module(match: re.Match[str]) -> tuple[str, str]:
    name, is_part, _ = match[1].partition(".")
    if is_part:  # Python names the outermost that it lacks
        return _missing_part(match)
    likely = f"the Python that ran the task has no module '{name}'"
    if name in _OURS:
        return (
            likely,
            "start the script with `python3`, which has it, or install this project's wheel or checkout in that Python;"
            " the package `determined` of the index is upstream's and does not work here",
        )
    wanted = distribution_of(name)
    return (
        likely,
        f"install {wanted} in {_ACTIVE}, name it in environment.python, or write `pip install {wanted}` into"
        " startup-hook.sh beside your code",
    )


def _missing_part(match: re.Match[str]) -> tuple[str, str]:
    name = match[1].partition(".")[0]
    if name in _OURS:
        return _missing_of_ours(match[1])
    return (
        f"'{name}' is installed, in a version that has no '{match[1]}'",
        f"change the import, or pin in environment.python the version of {name} that your code was written for",
    )


def _missing_name(match: re.Match[str]) -> tuple[str, str]:
    name = match[2].partition(".")[0]
    if name in _OURS:
        return _missing_of_ours(f"{match[2]}.{match[1]}")
    return (
        f"'{name}' is installed, in a version that has no '{match[1]}' in '{match[2]}'",
        f"change the import, or pin in environment.python the version of {name} that your code was written for",
    )


def _missing_of_ours(name: str) -> tuple[str, str]:
    return (
        f"this release of determined has no '{name}'",
        "change the import; the page 'Coming from upstream' of the guide says what differs",
    )


def _missing_file(match: re.Match[str]) -> tuple[str, str]:
    if (match[1] or "").startswith("/"):
        return (
            f"{match[1]} does not exist on the node where the task ran",
            "correct the path, or put the data where that node sees it",
        )
    return (
        "the path does not exist where the task runs, which is a fresh copy of the submitted directory",
        "put the file into that directory (and not into .detignore), or use an absolute path or bind_mounts",
    )


def _fixed(likely: str, advice: str) -> Callable[[re.Match[str]], tuple[str, str]]:
    return lambda _: (likely, advice)


_Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], tuple[str, str]]]
_ACCELERATOR_MEMORY = _fixed(
    "the model and its batch do not fit into the memory of the accelerator", "lower the batch size, or compute in bf16"
)
_HOST_MEMORY = _fixed(
    "the process was killed, mostly for lack of memory on the host",
    "lower the batch size or the number of data loader workers, or give the task more memory",
)

# By the exception's type, at the start of a line: its text is the user's and may say anything.
_EXCEPTIONS: tuple[_Rule, ...] = (
    (re.compile(r"^ModuleNotFoundError: No module named '([^']+)'", re.M), _missing_module),
    (re.compile(r"^ImportError: cannot import name '([^']+)' from '([^']+)'", re.M), _missing_name),
    (re.compile(r"^FileNotFoundError(?:[^'\n]*'([^'\n]{1,500})')?", re.M), _missing_file),
    (re.compile(r"^[\w.]*OutOfMemoryError|^RuntimeError: .*out of memory", re.M), _ACCELERATOR_MEMORY),
    (re.compile(r"^[\w.]*MemoryError", re.M), _HOST_MEMORY),
    (re.compile(r"^(OSError|RuntimeError): .*No space left on device", re.M), _fixed(
        "a disk is full", "free space there, or write to another disk")),
    (re.compile(r"^(SyntaxError|IndentationError|TabError)", re.M), _fixed(
        "Python cannot read this line", "correct it; `python3 -m py_compile FILE` checks a file without running it")),
)  # fmt: skip

# By the platform's own words for an end. What has advice in it already (checkpoint storage) needs none here.
_ENDS: tuple[_Rule, ...] = (
    (re.compile(r"^the entrypoint was not found|^the entrypoint exited with status 127"), _fixed(
        "the program that `entrypoint` names is not installed where the task runs",
        "correct `entrypoint`, or submit from the environment that has the program")),
    (re.compile(r"^the entrypoint cannot be executed|^the entrypoint exited with status 126"), _fixed(
        "the program that `entrypoint` names cannot be executed",
        "make it executable (chmod +x), or put its interpreter in front")),
    (re.compile(r"^the entrypoint was ended by SIGKILL|^the entrypoint exited with status 137"), _HOST_MEMORY),
    (re.compile(r"^out of memory on the host"), _HOST_MEMORY),
    (re.compile(r"^out of memory on the accelerator"), _ACCELERATOR_MEMORY),
    (re.compile(r"^a startup hook failed"), _fixed(
        "a command in startup-hook.sh failed; the log shows its last words",
        "run `bash -ex startup-hook.sh` by hand, and correct the command that ends it")),
)  # fmt: skip


def _explain(error: str, rules: Iterable[_Rule]) -> tuple[str | None, str | None]:
    removed = removed_name(error)
    if removed is not None:
        return removed.likely(), removed.advice()
    for pattern, explain in rules:
        if match := pattern.search(error):
            return explain(match)
    return None, None
