"""Watch of how a script ends: an uncaught exception, `sys.exit(1)`, Ctrl-C, or all is well."""

import builtins
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, NoReturn

from determined.errors import InvalidHP
from determined.rundir.detached import RunEnd

_LONGEST = 1000  # characters of a message


def run_end_of(error: BaseException | None) -> RunEnd:
    """Return what the end of a script means for its trial."""
    if error is None or (isinstance(error, SystemExit) and error.code in (None, 0)):
        return RunEnd(state="COMPLETED", message="the script has ended")
    if isinstance(error, KeyboardInterrupt):
        return RunEnd(state="CANCELED", message="the script was interrupted")
    if isinstance(error, SystemExit):
        return RunEnd(state="ERROR", message=f"the script has exited with {str(error.code)[:_LONGEST]}")
    what = "invalid hyperparameters" if isinstance(error, InvalidHP) else type(error).__name__
    return RunEnd(state="ERROR", message=f"the script has failed: {what}: {error}"[:_LONGEST])


class EndingWatch:
    """Watch from `start` to `stop`. `sys.exit` and `sys.excepthook` do what they did, and are seen."""

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self._exits: dict[Any, Callable[..., Any]] = {}
        self._hook = sys.excepthook
        self._seeing: dict[str, Any] = {}

    def start(self) -> None:
        self._hook = sys.excepthook
        self._seeing = {"hook": self._see, "exit": self._exit}
        sys.excepthook = self._seeing["hook"]
        for owner in (sys, builtins):
            if "exit" in vars(owner):
                self._exits[owner] = vars(owner)["exit"]
                vars(owner)["exit"] = self._seeing["exit"]

    def stop(self) -> None:
        """Undo it, where nobody has put another thing in the place since."""
        if sys.excepthook is self._seeing.get("hook"):
            sys.excepthook = self._hook
        for owner, original in self._exits.items():
            if vars(owner)["exit"] is self._seeing.get("exit"):
                vars(owner)["exit"] = original
        self._exits = {}

    def _exit(self, status: Any = None) -> NoReturn:
        self.error = SystemExit(status)
        raise self.error

    def _see(self, kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        self.error = error
        self._hook(kind, error, traceback)
