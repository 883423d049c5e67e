"""det experiment: list, steer, continue, label, move, delete, and wait for its end."""

import argparse
import base64
import contextlib
import time
from pathlib import Path

from determined.api import experiment, project, search
from determined.api.session import Session
from determined.cli import log_follow, outcome, render
from determined.cli.commands import experiment_create
from determined.cli.connection import connect
from determined.cli.grammar import Command, arg, command, group, one_of, seconds
from determined.errors import DeterminedError, NotFound
from determined.wire.experiment import Experiment, ListExperiments, ListTrials

_ID = arg("experiment_id", type=int, completes="experiment", help="experiment ID")


def list_experiments(args: argparse.Namespace) -> None:
    session = connect(args)
    params = ListExperiments(limit=args.limit, offset=args.offset)
    if not args.all:
        params.archived, params.users = False, [session.username] if session.username else None
    experiments = list(experiment.iterate(session, params, all_pages=args.pages == "all"))
    headers = ["ID", "Owner", "Name", "Parent ID", "State", "Progress", "Started", "Ended", "Resource Pool"]
    if args.show_project:
        headers = ["Workspace", "Project", *headers]
    if args.all:
        headers.append("Archived")
    render.rows(headers, [_row(e, args) for e in experiments], args=args, data=experiments)


def verb(name: str) -> Command:
    """Make a command that does one thing to one experiment."""
    said = {"activate": "Activated", "pause": "Paused", "cancel": "Canceled", "kill": "Killed"}.get(
        name, f"{name.capitalize()}d"
    )

    def run(args: argparse.Namespace) -> None:
        session = connect(args)
        ended = _ended_state(session, args.experiment_id) if name in {"kill", "cancel"} else None
        experiment.act(session, args.experiment_id, name)
        if ended is not None:
            render.line(f"Experiment {args.experiment_id} had ended already ({ended}); nothing to {name}")
        else:
            render.line(f"{said} experiment {args.experiment_id}")

    names = "activate unpause" if name == "activate" else name
    return command(names, f"{name} experiment", run, _ID)


def _ended_state(session: Session, experiment_id: int) -> str | None:
    """Return the state of an experiment that is over. One that cannot be read is for the verb to refuse."""
    with contextlib.suppress(DeterminedError):
        state = render.state_of(experiment.get(session, experiment_id).state)
        return state if state in {"COMPLETED", "CANCELED", "ERROR"} else None
    return None


def delete(args: argparse.Namespace) -> int | None:
    question = f"Deleting experiment {args.experiment_id} removes its checkpoints, logs and metrics. Continue?"
    if not args.yes and not render.ask(question):
        return 1
    experiment.delete(connect(args), args.experiment_id)
    render.line(f"Deletion of experiment {args.experiment_id} is in progress")
    return None


def config(args: argparse.Namespace) -> None:
    row = experiment.get(connect(args), args.experiment_id)
    args.yaml = not args.json
    render.structured(row.config, args=args)


def continue_experiment(args: argparse.Namespace) -> int | None:
    session = connect(args)
    usage = "det e continue EXPERIMENT_ID --config-file CONFIG_FILE"
    override = experiment_create.override_config(args.config_file, args.config, usage)
    answer = experiment.continue_(session, args.experiment_id, override)
    for warning in answer.messages:
        render.warn(f"Warning: {warning}")
    render.line(f"Continued experiment {args.experiment_id}")
    return outcome.follow(session, args.experiment_id) if args.follow_first_trial else None


def extend(args: argparse.Namespace) -> None:
    search.extend(connect(args), args.experiment_id, args.trials)
    render.line(f"Extended experiment {args.experiment_id} by {args.trials} trial(s)")


def download_model_definition(args: argparse.Namespace) -> None:
    data = base64.b64decode(experiment.model_definition(connect(args), args.experiment_id))
    target = Path(args.output_dir) / f"experiment_{args.experiment_id}_model_def.tgz"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    render.line(f"Wrote {target}")


def label_add(args: argparse.Namespace) -> None:
    session = connect(args)
    labels = set(experiment.get(session, args.experiment_id).labels or [])
    experiment.labels_set(session, args.experiment_id, sorted(labels | {args.label}))
    render.line(f"Added label '{args.label}' to experiment {args.experiment_id}")


def label_remove(args: argparse.Namespace) -> None:
    session = connect(args)
    labels = set(experiment.get(session, args.experiment_id).labels or [])
    if args.label not in labels:
        raise NotFound(f"experiment {args.experiment_id} has no label '{args.label}'; it has: {sorted(labels)}")
    experiment.labels_set(session, args.experiment_id, sorted(labels - {args.label}))
    render.line(f"Removed label '{args.label}' from experiment {args.experiment_id}")


def logs(args: argparse.Namespace) -> None:
    session = connect(args)
    ids = [t.id for t in experiment.trials(session, args.experiment_id, ListTrials(limit=1), all_pages=False)]
    if not ids:
        raise NotFound(f"experiment {args.experiment_id} has no trial yet")
    log_follow.print_trial(session, ids[0], args)


def move(args: argparse.Namespace) -> None:
    session = connect(args)
    target = project.by_name(session, args.workspace_name, args.project_name)
    experiment.move(session, args.experiment_id, target.id)
    render.line(f"Moved experiment {args.experiment_id} to project '{args.project_name}'")


def delete_tensorboard_files(args: argparse.Namespace) -> None:
    experiment.delete_tensorboard_files(connect(args), args.experiment_id)
    render.line(f"Deleted the TensorBoard files of experiment {args.experiment_id}")


def wait(args: argparse.Namespace) -> int:
    session = connect(args)
    while True:
        row = experiment.get(session, args.experiment_id)
        state = render.state_of(row.state)
        if state in {"COMPLETED", "CANCELED", "ERROR"}:
            failed = outcome.failed_trials(session, args.experiment_id) if state == "COMPLETED" else ""
            render.line(f"Experiment {args.experiment_id} ended: {state}{failed}")
            return outcome.report(session, row)
        time.sleep(args.polling_interval)


def _row(e: Experiment, args: argparse.Namespace) -> list[object]:
    row: list[object] = [
        e.id,
        e.username,
        e.name,
        e.forked_from,
        render.state_of(e.state),
        render.progress_of(e.state, e.progress),
        render.time_of(e.start_time),
        render.time_of(e.end_time),
        e.resource_pool,
    ]
    if args.show_project:
        row = [e.workspace_name, e.project_name, *row]
    if args.all:
        row.append(e.archived)
    return row


LIST = command(
    "list ls",
    "list experiments",
    list_experiments,
    arg("-a", "--all", action="store_true", help="also archived ones and those of other users"),
    arg("--show_project", "--show-project", action="store_true", help="also workspace and project"),
    *render.pages(),
    render.FORMATS,
    default=True,
)
CONTINUE = command(
    "continue",
    "continue experiment",
    continue_experiment,
    _ID,
    *experiment_create.CONFIG_CHANGES,
    arg("-f", "--follow-first-trial", action="store_true", help="follow the log of the first trial"),
)
EXTEND = command(
    "extend",
    "extend experiment",
    extend,
    _ID,
    arg("--trials", type=int, required=True, help="how many more trials its search may run"),
)
ACTIVATE, PAUSE, CANCEL, KILL, ARCHIVE, UNARCHIVE = map(
    verb, ("activate", "pause", "cancel", "kill", "archive", "unarchive")
)
DELETE = command("delete", "delete experiment", delete, _ID, arg("--yes", action="store_true", help="do not ask"))
DELETE_TB_FILES = command("delete-tb-files", "delete TensorBoard files", delete_tensorboard_files, _ID)
CONFIG = command("config", "display experiment config", config, _ID, one_of(render.JSON, render.YAML))
DOWNLOAD_MODEL_DEF = command(
    "download-model-def",
    "download model definition",
    download_model_definition,
    _ID,
    arg("--output-dir", default=".", help="where to write it"),
)
LABEL = group(
    "label",
    "manage labels",
    command("add", "add label", label_add, _ID, arg("label")),
    command("remove", "remove label", label_remove, _ID, arg("label")),
)
LOGS = command("logs", "fetch experiment logs", logs, _ID, *log_follow.LOG_ARGS)
MOVE = command("move", "move experiment", move, _ID, arg("workspace_name"), arg("project_name"))
WAIT = command(
    "wait",
    "wait for experiment",
    wait,
    _ID,
    arg("--polling-interval", type=seconds, default=5, help="seconds between looks"),
)
