"""Cause of a failed task, and its text in the reason of an allocation's end: a line for each part that is known.

The runner finds the cause once (`failure_analysis.py`) and writes it into its exit record. Others read it here.
"""

import re
from dataclasses import dataclass

_PARTS = {"what": "what", "where": "where", "cause": "likely", "fix": "advice"}  # label -> attribute
_LABELLED = re.compile(rf"^({'|'.join(_PARTS)}): (.+)$")
_NODE = re.compile(r"^node \d+ \([^)\n]*\): ")
_CHARACTERS = 600  # of a part: the log has the whole line
_ESCAPE_SEQUENCES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?")
# The last of these would turn the rest of the sentence from right to left. The log shows the line as it was written.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_URL_PASSWORD = re.compile(r"(://[^\s/:@]{0,200}:)[^\s/@]{1,200}@")


@dataclass(frozen=True, slots=True)
class Cause:
    """Cause of a task's failure; unknown parts are None."""

    what: str | None = None
    where: str | None = None
    likely: str | None = None
    advice: str | None = None

    def describe(self) -> str:
        """Return all of it in one line."""
        what = f"{self.what} ({self.where})" if self.where else self.what or ""
        rest = "; ".join(part for part in (self.likely, self.advice) if part)
        return f"{what}: {rest}" if what and rest else what or rest

    def with_end(self, ended: str) -> str:
        """Return the text to store: how the task ended, then a line for each part."""
        is_same = self.what is not None and self.what.startswith(ended)
        parts = {label: getattr(self, name) for label, name in _PARTS.items() if not (is_same and name == "what")}
        first = harmless(self.what or "") if is_same else ended
        return "\n".join([first, *(f"{label}: {harmless(text)}" for label, text in parts.items() if text)])


def read_cause(reason: str) -> Cause:
    """Read the cause from the reason of an end; its first and last line are the `what` where that has no line."""
    head, parts = _split(_NODE.sub("", reason, count=1))
    return Cause(**{"what": _first_and_last(head)} | parts)


def in_one_line(reason: str) -> str:
    """Return the reason of an end in one line. All lines of a failed launcher are in the log already."""
    head, parts = _split(reason)
    if not parts:
        return _first_and_last(head) or ""
    cause = Cause(**parts)
    return f"{head[0]} ... {cause.describe()}" if cause.what else Cause(**parts | {"what": head[0]}).describe()


def brief(reason: str) -> str:
    """Return how the task ended and what failed, for a cell of a table."""
    head, parts = _split(reason)
    return ": ".join(filter(None, [_first_and_last(head), parts.get("what")]))


def harmless(text: str) -> str:
    """Return the text without what would move the cursor, turn the writing or show a password, and not too long."""
    text = _URL_PASSWORD.sub(r"\1***@", _CONTROLS.sub(" ", _ESCAPE_SEQUENCES.sub("", text[: 8 * _CHARACTERS]))).strip()
    return text if len(text) <= _CHARACTERS else text[: _CHARACTERS - 4] + " ..."


def _split(reason: str) -> tuple[list[str], dict[str, str]]:
    """Split a reason into its first lines and the parts at its end."""
    lines, parts = reason.split("\n"), {}
    while len(lines) > 1 and (match := _LABELLED.match(lines[-1])) and _PARTS[match[1]] not in parts:
        parts[_PARTS[match[1]]] = match[2]
        lines.pop()
    return lines, parts


def _first_and_last(lines: list[str]) -> str | None:
    return f"{lines[0]} ... {lines[-1].strip()}" if len(lines) > 1 else lines[0] or None
