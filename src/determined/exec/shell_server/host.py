"""State that all sessions of the server share: the task's variables, detached terminals, the note of use."""

import asyncio
import os
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from determined.exec.shell_server.activity import Activity
from determined.exec.shell_server.detached import DetachedTerminals
from determined.exec.shell_server.login_shell import command_argv, find_shell, login_argv
from determined.exec.shell_server.session_environment import home_directory, session_variables
from determined.exec.shell_server.terminal import Terminal

_WANTS_NEW = "DET_SHELL_NEW"  # sent by a client that wants no terminal from before


@dataclass(frozen=True, slots=True)
class Request:
    """Request of a client for one session. `command`: None is a login shell."""

    command: str | None
    client_variables: Mapping[str, str]
    terminal_type: str | None = None

    @property
    def wants_new(self) -> bool:
        return self.command is not None or bool(self.client_variables.get(_WANTS_NEW))


@dataclass(frozen=True, slots=True)
class Host:
    """The task as sessions see it."""

    variables: Mapping[str, str]
    activity: Activity = field(default_factory=Activity)
    detached: DetachedTerminals = field(default_factory=DetachedTerminals)
    terminals: set[Terminal] = field(default_factory=set)
    commands: set[object] = field(default_factory=set)  # that run without a terminal
    _tasks: set["asyncio.Task[None]"] = field(default_factory=set)

    def argv(self, request: Request) -> list[str]:
        shell = find_shell(self.variables)
        if request.command is not None:
            return command_argv(shell, request.command)
        return login_argv(shell, interactive=request.terminal_type is not None)

    def variables_of(self, request: Request, terminal: str | None = None) -> dict[str, str]:
        client = {name: value for name, value in request.client_variables.items() if name != _WANTS_NEW}
        return session_variables(
            self.variables,
            client,
            shell=find_shell(self.variables),
            home=home_directory(self.variables, os.getuid()),
            is_login=request.command is None,
            terminal=terminal,
            terminal_type=request.terminal_type,
        )

    @property
    def is_busy(self) -> bool:
        """Check whether a program runs in the foreground of a terminal, or a command without one."""
        return bool(self.commands) or any(terminal.is_busy for terminal in self.terminals)

    def was_used_within(self, seconds: float) -> bool:
        return self.is_busy or self.activity.seconds_ago() <= seconds

    def start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Run something that outlives the connection which asked for it."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
