"""ProgressLines: how far an epoch has come, in a few lines that read well in a log; a progress bar does not."""

import sys
from typing import Any

from determined._json import JsonObject

_LINES = 10


class ProgressLines:
    """Pass over the data: a line at each tenth of it.

    Args:
        name: what passes, such as `epoch 1/3`.
        total: batches of the pass; None where nobody knows.
        is_shown: False: no lines.
    """

    def __init__(self, name: str, total: int | None, *, is_shown: bool) -> None:
        self._name = name
        self._total = total
        self._is_shown = is_shown
        self._tenths = 0

    def advance(self, batches: int, logs: JsonObject) -> None:
        """Count a batch; the last is left to `end`, which knows more."""
        if not self._is_shown or not self._total or batches >= self._total:
            return
        tenths = batches * _LINES // self._total
        if tenths > self._tenths:
            self._tenths = tenths
            self._write(f"{100 * batches // self._total}% ({batches}/{self._total} batches)", logs)

    def end(self, batches: int, logs: JsonObject) -> None:
        if self._is_shown:
            self._write(f"done ({batches} batches)", logs)

    def _write(self, what: str, logs: JsonObject) -> None:
        values = ", ".join(f"{name} {_shown(value)}" for name, value in logs.items())
        sys.stdout.write(f"{self._name}: {what} {values}".rstrip() + "\n")
        sys.stdout.flush()


def _shown(value: Any) -> str:
    try:
        return f"{float(value):.5g}"
    except (TypeError, ValueError):
        return str(value)
