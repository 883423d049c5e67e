"""Idle rule of a notebook: asks Jupyter what is in use and tells the master, every 30 s.

A question that fails counts as use: a server that is too busy to answer must not be ended for it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from determined.errors import DeterminedError
from determined.exec import socket_http
from determined.exec.service_program import say

REPORT_SECONDS = 30.0

Ask = Callable[[str], Any]  # what to ask for: `api/kernels`
Tell = Callable[[bool], None]  # whether the notebook is idle


class IdleRule:
    """Decides by `notebook_idle_type`. `activity` compares with the time of the look before."""

    def __init__(self, kind: str) -> None:
        self._is_idle = {
            "kernels_or_terminals": self._nothing_runs,
            "kernel_connections": self._nobody_is_connected,
            "activity": self._nothing_happened,
        }[kind]
        self._last_activity: str | None = None

    def look(self, ask: Ask) -> bool:
        """Return whether nobody uses the notebook. Raises OSError where Jupyter does not answer."""
        return self._is_idle(ask)

    def _nothing_runs(self, ask: Ask) -> bool:
        return not (ask("api/kernels") or ask("api/terminals") or ask("api/sessions"))

    def _nobody_is_connected(self, ask: Ask) -> bool:
        return not any(kernel.get("connections") for kernel in ask("api/kernels"))

    def _nothing_happened(self, ask: Ask) -> bool:
        before, self._last_activity = self._last_activity, ask("api/status").get("last_activity")
        is_busy = any(kernel.get("execution_state") == "busy" for kernel in ask("api/kernels"))
        return not is_busy and before == self._last_activity


class IdleReporter:
    """Reporter that is called every REPORT_SECONDS."""

    def __init__(self, rule: IdleRule, ask: Ask, tell: Tell) -> None:
        self._rule, self._ask, self._tell = rule, ask, tell
        self._is_warned = False

    def report(self) -> None:
        try:
            self._tell(self._look())
            self._is_warned = False
        except DeterminedError as err:
            if not self._is_warned:  # once per outage: the task outlives a master that is away
                say("WARNING", f"the master was not told whether this notebook is in use: {err}")
            self._is_warned = True

    def _look(self) -> bool:
        try:
            return self._rule.look(self._ask)
        except (OSError, LookupError, TypeError, AttributeError):
            return False


def asker(socket: Path, prefix: str, token: str) -> Ask:
    """Return what asks Jupyter without counting as use."""
    return lambda what: socket_http.get_json(socket, f"{prefix}{what}?no_track_activity=1", token=token)
