"""`det run`: track any program on this machine as an unmanaged trial, without a config."""

import argparse
import contextlib
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from determined.api import project as projects
from determined.api import workspace as workspaces
from determined.api.session import Session
from determined.cli import own_masters, render
from determined.cli.connection import connect
from determined.cli.grammar import arg, command
from determined.errors import AlreadyExists, InvalidArgument, NotFound
from determined.wire.project import PostProjectRequest
from determined.wire.workspace import PostWorkspaceRequest, Workspace

# As a shell ends for such programs.
_NOT_EXECUTABLE, _NOT_FOUND = 126, 127


def run(args: argparse.Namespace) -> int:
    """Run the program and return its exit status."""
    from determined.cli.tracking.tracked_run import TrackedRun, request_of

    words = args.program[1:] if args.program[:1] == ["--"] else args.program
    if not words:
        raise InvalidArgument("no program is given; write it after the options: det run python train.py --lr 0.1")
    if shutil.which(words[0]) is None:
        return _fail_to_find(words)
    session = connect(args, start=True)
    workspace, project = _project(session, args.project) if args.project else (None, None)
    wanted = request_of(words, args.name, args.label, workspace, project, args.webhook)
    directories = [str(Path(each).absolute()) for each in args.tensorboard] or [str(Path.cwd())]
    tracked = TrackedRun(session, words, wanted, directories)
    registered = tracked.registered
    address = f"{session.master_url}/det/experiments/{registered.experiment_id}"
    _say(f"Trial {registered.trial_id} of experiment {registered.experiment_id}: {address}")
    own_masters.say_sign_in(session.master_url, f"det open experiment {registered.experiment_id}")
    result = tracked.run()
    _say(f"Trial {registered.trial_id} {result.state}, status {result.ending.code}: {address}")
    if not result.is_delivered:
        _say("The master does not answer; the rest is delivered in the background, at the latest by the next run.")
    return result.ending.code


def _fail_to_find(words: Sequence[str]) -> int:
    """Say why a program cannot be run, and for a Python script how; return the status."""
    program = words[0]
    is_script = program.endswith(".py") and Path(program).is_file()
    meant = f"; did you mean: det run python {shlex.join(words)}" if is_script else ""
    if "/" in program and Path(program).exists():
        render.fail(f"{program}: not executable; nothing was tracked{meant}")
        return _NOT_EXECUTABLE
    render.fail(f"{program}: no such program; nothing was tracked{meant}")
    return _NOT_FOUND


def _project(session: Session, text: str) -> tuple[str, str]:
    """Return workspace and project of `[WORKSPACE/]PROJECT`, made if need be; the workspace is yours by default."""
    given, slash, name = text.rpartition("/")
    owner = given if slash else session.username or "runs"
    if not owner or not name:
        raise InvalidArgument(f"--project {text!r} is not WORKSPACE/PROJECT or PROJECT")
    workspace = _workspace(session, owner)
    try:
        projects.of_workspace(session, workspace, name)
    except NotFound:
        with contextlib.suppress(AlreadyExists):  # another run has made it meanwhile
            projects.create(session, PostProjectRequest(name=name, workspace_id=workspace.id))
    return owner, name


def _workspace(session: Session, name: str) -> Workspace:
    try:
        return workspaces.by_name(session, name)
    except NotFound:
        pass
    try:
        return workspaces.create(session, PostWorkspaceRequest(name=name))
    except AlreadyExists:  # another run has made it meanwhile
        return workspaces.by_name(session, name)


def _say(text: str) -> None:
    """Say it beside the output of the program: standard output is the program's alone."""
    render.line(text, file=sys.stderr)


TREE = command(
    "run",
    "track a program",
    run,
    arg("--project", metavar="[WORKSPACE/]PROJECT", help="the project for it, made if need be"),
    arg("--name", help="the experiment's name; else the script's"),
    arg("--label", action="append", default=[], metavar="LABEL", help="a label of the experiment; may be repeated"),
    arg(
        "--webhook",
        action="append",
        default=[],
        metavar="NAME",
        help="a webhook that alerts of the program go to (core_context.alert); may be repeated",
    ),
    arg(
        "--tensorboard",
        action="append",
        default=[],
        metavar="DIR",
        help="read TensorBoard files below this directory, not below the current one; may be repeated",
    ),
    arg("program", nargs=argparse.REMAINDER, metavar="PROGRAM", help="the program and its arguments"),
    epilog="The program runs here, as without det. Its output, exit status, hyperparameters (--lr 0.1, lr=0.1), "
    "printed metrics (step=10 loss=0.5), TensorBoard scalars, git commit and packages are kept.",
)
