"""det tensorboard: start TensorBoard on experiments and trials, open it, look at such tasks, end them."""

import argparse

from determined.api import submitted_task as api
from determined.cli import render, served_task, submitted_tasks, task_ids
from determined.cli.connection import connect
from determined.cli.grammar import OWN_TASKS, UsageError, arg, command, group
from determined.wire.tensorboard import LaunchTensorboardRequest

_NOUN = api.TENSORBOARD


def start(args: argparse.Namespace) -> None:
    if not args.experiment_ids and not args.trial_ids:
        raise UsageError("Either experiment_ids or trial_ids must be specified.")
    session = connect(args, start=True)
    args.template = None
    launched = submitted_tasks.launch(
        session,
        _NOUN,
        args,
        lambda raw: LaunchTensorboardRequest(
            config=raw, experiment_ids=args.experiment_ids or None, trial_ids=args.trial_ids or None
        ),
    )
    served_task.show_launched(session, _NOUN, launched.task.id, args, "Tensorboard is running at:")


def open_tensorboard(args: argparse.Namespace) -> None:
    served_task.open_task(args, _NOUN, "Tensorboard")


TREE = task_ids.accepting_short(
    group(
        "tensorboard tb",
        "manage TensorBoards",
        *submitted_tasks.common(_NOUN, ("experimentIds", "trialIds")),
        *served_task.share_commands(_NOUN),
        command(
            "start",
            "start a new TensorBoard",
            start,
            arg(
                "experiment_ids",
                type=int,
                completes="experiment",
                nargs="*",
                metavar="EXPERIMENT",
                help="experiments to show",
            ),
            arg("-t", "--trial-ids", type=int, nargs="+", default=[], metavar="TRIAL", help="trials to show"),
            *(one for one in submitted_tasks.LAUNCH_ARGS if not {"--template", "--volume"} & set(one.flags)),
            served_task.NO_BROWSER,
        ),
        command(
            "open",
            "open a TensorBoard",
            open_tensorboard,
            arg("task_id", metavar="ID", completes=OWN_TASKS),
            render.JSON,
        ),
    )
)
