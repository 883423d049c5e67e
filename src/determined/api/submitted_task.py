"""Commands, notebooks, shells and TensorBoards over HTTP: the same calls for each noun."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from determined._json import JsonObject
from determined.api.paging import pages
from determined.api.session import Sending, Session
from determined.wire import command, notebook, shell, tensorboard
from determined.wire.operation import Operation
from determined.wire.submitted_task import LaunchRequest, ListSubmittedTasks, SetPriorityRequest, SubmittedTask

AnyOperation = Operation[Any, Any]


@dataclass(frozen=True, slots=True)
class Noun:
    """Operations of a noun. `name` is also the field of answers that has the object."""

    name: str
    list: AnyOperation
    launch: AnyOperation
    get: AnyOperation
    kill: AnyOperation
    set_priority: AnyOperation


COMMAND = Noun(
    "command",
    command.LIST_COMMANDS,
    command.LAUNCH_COMMAND,
    command.GET_COMMAND,
    command.KILL_COMMAND,
    command.SET_COMMAND_PRIORITY,
)
NOTEBOOK = Noun(
    "notebook",
    notebook.LIST_NOTEBOOKS,
    notebook.LAUNCH_NOTEBOOK,
    notebook.GET_NOTEBOOK,
    notebook.KILL_NOTEBOOK,
    notebook.SET_NOTEBOOK_PRIORITY,
)
SHELL = Noun(
    "shell", shell.LIST_SHELLS, shell.LAUNCH_SHELL, shell.GET_SHELL, shell.KILL_SHELL, shell.SET_SHELL_PRIORITY
)
TENSORBOARD = Noun(
    "tensorboard",
    tensorboard.LIST_TENSORBOARDS,
    tensorboard.LAUNCH_TENSORBOARD,
    tensorboard.GET_TENSORBOARD,
    tensorboard.KILL_TENSORBOARD,
    tensorboard.SET_TENSORBOARD_PRIORITY,
)
NOUNS = {noun.name: noun for noun in (COMMAND, NOTEBOOK, SHELL, TENSORBOARD)}


@dataclass(frozen=True, slots=True)
class Launched:
    """A task that was launched, with remarks on its config."""

    task: SubmittedTask
    config: JsonObject
    messages: list[str]


def launch(session: Session, noun: Noun, request: LaunchRequest, *, sending: Sending | None = None) -> Launched:
    """Submit. `sending` hears of each part of the body as it leaves."""
    answer = session.call(noun.launch, request) if sending is None else session.send(noun.launch, request, sending)
    return Launched(getattr(answer, noun.name), answer.config, answer.messages or [])


def iterate(session: Session, noun: Noun, params: ListSubmittedTasks) -> Iterator[SubmittedTask]:
    for page in pages(session, noun.list, params):
        yield from getattr(page, f"{noun.name}s")


def get(session: Session, noun: Noun, task_id: str) -> SubmittedTask:
    task: SubmittedTask = getattr(session.call(noun.get, task_id=task_id), noun.name)
    return task


def config(session: Session, noun: Noun, task_id: str) -> JsonObject:
    answer: JsonObject = session.call(noun.get, task_id=task_id).config
    return answer


def kill(session: Session, noun: Noun, task_id: str) -> None:
    session.call(noun.kill, task_id=task_id)


def set_priority(session: Session, noun: Noun, task_id: str, priority: int) -> None:
    session.call(noun.set_priority, SetPriorityRequest(priority=priority), task_id=task_id)
