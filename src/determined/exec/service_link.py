"""Requests to the master of a program that serves a task's users: whether it is in use, whether it is filled."""

import json

from determined.exec.master_link import MasterLink
from determined.wire.allocation import MARK_READY, MARK_WAITING
from determined.wire.notebook import REPORT_NOTEBOOK_IDLE
from determined.wire.shell import REPORT_SHELL_IDLE

_SECONDS = 30.0


class ServiceLink(MasterLink):
    """Link with the task's own token. Every method raises a DeterminedError: see MasterLink."""

    def report_idle(self, task_id: str, *, idle: bool) -> None:
        body = json.dumps({"notebookId": task_id, "idle": idle}).encode()
        self._call(REPORT_NOTEBOOK_IDLE, _SECONDS, body, "application/json", task_id=task_id)

    def report_shell_idle(self, task_id: str, *, idle: bool) -> None:
        self._call(
            REPORT_SHELL_IDLE, _SECONDS, json.dumps({"idle": idle}).encode(), "application/json", task_id=task_id
        )

    def mark_waiting(self) -> None:
        """Say that the service answers and has nothing to show yet."""
        self._call(MARK_WAITING, _SECONDS)

    def mark_ready(self) -> None:
        self._call(MARK_READY, _SECONDS)
