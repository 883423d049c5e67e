"""Analysis of a failed task: how it ended and its last lines become what failed, where, why, and what to do."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from determined.rundir.failure import is_progress_bar
from determined.rundir.failure_cause import Cause, harmless
from determined.rundir.failure_rules import WORKDIR, Circumstances, explain_end, explain_error, missing_module
from determined.rundir.traceback_parser import Frame, Raised, last_dump, last_raised

_NO_SCRIPT = re.compile(r"^\S*python\S*: can't open file '(.+)': \[Errno 2\]")
_NO_MODULE = re.compile(r"^\S*python\S*: No module named ([\w.]+)$")
_USAGE = re.compile(r"^usage: ")
_WRONG_ARGUMENTS = re.compile(r"^[^\s:]+: error: .+")
_SCRIPT_LINE = re.compile(r"^(?P<file>\S+\.\w+): line (?P<line>\d+): ")  # of a shell
_TRIAL_CLASS = re.compile(r"^entrypoint \S+:\w+(?: needs |: ).+")
# Of a shell whose program was ended by a signal, which the end itself names.
_SIGNAL_WORDS = re.compile(r"^(?:Segmentation fault|Killed|Aborted|Bus error|Illegal instruction)( \(core dumped\))?$")
_OTHER_DIRECTORY = "correct `entrypoint`, or the directory that follows the config in `det e create`"


@dataclass(frozen=True, slots=True)
class LogLine:
    text: str
    rank: int | None = None  # tracebacks of two are interleaved
    is_stderr: bool = True
    level: str | None = None


def find_cause(lines: Sequence[LogLine], ended: str, circumstances: Circumstances | None = None) -> Cause:
    """Find the cause of a failure in the task's last lines, the oldest first.

    Args:
        ended: how it ended, in the platform's words.
    """
    known = circumstances or Circumstances()
    return (
        _of_exception(lines, known)
        or _of_python(lines, known)
        or _of_arguments(lines)
        or _of_harness(lines)
        or _of_end(lines, ended, known)
    )


def _of_exception(lines: Sequence[LogLine], circumstances: Circumstances) -> Cause | None:
    raised = _first_failure(lines)
    if raised is None:
        return None
    likely, advice = explain_error(raised.error, circumstances) or (None, None)
    if raised.origin is not None:
        root, helps = _of_origin(raised, circumstances)
        likely, advice = "; ".join(filter(None, [root, likely])), advice or helps
    return Cause(raised.error, _place(raised.frames), likely, advice)


def _first_failure(lines: Sequence[LogLine]) -> Raised | None:
    """Return the exception that ended a rank; of several ranks, that of the first one that failed."""
    ends: dict[int | None, tuple[int, Raised]] = {}
    for (rank, _), numbers in _by_stream(lines).items():
        raised = last_raised([lines[number].text for number in numbers])
        if raised is not None and (rank not in ends or numbers[raised.number] > ends[rank][0]):
            ends[rank] = numbers[raised.number], raised
    return min(ends.values(), key=lambda end: end[0])[1] if ends else None


def _of_origin(raised: Raised, circumstances: Circumstances) -> tuple[str, str | None]:
    """Tell the first exception of a chain or a group, and what helps against it."""
    assert raised.origin is not None
    place = _place(raised.origin.frames)
    text = f"{raised.link} {harmless(raised.origin.error)}" + (f" ({place})" if place else "")
    likely, advice = explain_error(raised.origin.error, circumstances) or (None, None)
    return (f"{text}: {likely}" if likely else text), advice


def _of_python(lines: Sequence[LogLine], circumstances: Circumstances) -> Cause | None:
    """Recognise the words of a Python that could not even begin."""
    for line in lines:
        if match := _NO_SCRIPT.match(line.text):
            script = match[1].partition(WORKDIR)[2] or match[1]
            why = "the submitted directory does not hold it, or .detignore leaves it out"
            return Cause(f"Python finds no file {script}", None, why, _OTHER_DIRECTORY)
        if match := _NO_MODULE.match(line.text):
            likely, advice = missing_module(match[1], circumstances)
            return Cause(f"Python finds no module {match[1]}", None, likely, f"correct `entrypoint`, or {advice}")
    return None


def _of_arguments(lines: Sequence[LogLine]) -> Cause | None:
    """Recognise the last words of argparse and its like."""
    said = [line.text for line in lines if line.is_stderr and line.text.strip()]
    if not said or not _WRONG_ARGUMENTS.match(said[-1]) or not any(_USAGE.match(text) for text in said):
        return None
    return Cause(said[-1], None, "the program refused its arguments", "correct the arguments in `entrypoint`")


def _of_harness(lines: Sequence[LogLine]) -> Cause | None:
    """Take over our own explanation of a trial class that cannot be used."""
    for line in reversed(lines):
        if line.is_stderr and line.level == "ERROR" and _TRIAL_CLASS.match(line.text):
            what, _, advice = line.text.partition("; ")
            return Cause(what, None, None, advice or _OTHER_DIRECTORY)
    return None


def _of_end(lines: Sequence[LogLine], ended: str, circumstances: Circumstances) -> Cause:
    """Tell the end itself, with the last line of the output, which is marked as that."""
    frames = last_dump([line.text for line in lines]) if "SIG" in ended else []
    where, what = _place(frames), ended
    last = _last_line(lines)
    if last is not None and not frames:
        stream = "stderr" if last.is_stderr else "stdout"
        what = f"{ended}; last line of its {stream}: {harmless(last.text)}"
        if match := _SCRIPT_LINE.match(last.text):
            where = f"{match['file'].partition(WORKDIR)[2] or match['file']}, line {match['line']}"
    likely, advice = explain_end(ended, circumstances) or (None, None)
    return Cause(what, where, likely, "change or reinstall the library that this line calls" if frames else advice)


def _last_line(lines: Sequence[LogLine]) -> LogLine | None:
    """Return the last line of stderr; of stdout where that says nothing."""
    said = [line for line in lines if _says_something(line.text)]
    return next((line for line in reversed(said) if line.is_stderr), said[-1] if said else None)


def _says_something(text: str) -> bool:
    return bool(harmless(text)) and not is_progress_bar(text) and not _SIGNAL_WORDS.match(text)


def _by_stream(lines: Iterable[LogLine]) -> dict[tuple[int | None, bool], list[int]]:
    """Return the numbers of the lines of each rank and stream: what stands between them is of others."""
    groups: dict[tuple[int | None, bool], list[int]] = {}
    for number, line in enumerate(lines):
        groups.setdefault((line.rank, line.is_stderr), []).append(number)
    return groups


def _place(frames: Sequence[Frame]) -> str | None:
    """Describe the innermost line of the user's own code, its path as in the directory that was submitted."""
    for frame in reversed(frames):
        _, own, path = frame.file.partition(WORKDIR)
        if own and "site-packages" not in path:
            return _described(frame, path)
    return _described(frames[-1], frames[-1].file) if frames else None


def _described(frame: Frame, path: str) -> str:
    place = f"{path}, line {frame.line}"
    if frame.function and frame.function != "<module>":
        place += f", in {frame.function}"
    return f"{place}: {frame.code}" if frame.code else place
