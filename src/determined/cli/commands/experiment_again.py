"""det experiment reproduce and lock: run an experiment as it ran before, and what its packages were."""

import argparse
import sys

from determined.api import experiment
from determined.cli import environment, outcome, render
from determined.cli.commands.experiment_create import CONFIG_CHANGES, changed, override_config, say_created
from determined.cli.connection import connect
from determined.cli.grammar import arg, command, one_of
from determined.errors import FailedPrecondition, NotFound
from determined.wire.experiment import CreateExperimentRequest

_ID = arg("experiment_id", type=int, completes="experiment", help="experiment ID")


def reproduce(args: argparse.Namespace) -> int | None:
    session = connect(args)
    answer = experiment.reproduce(session, args.experiment_id, activate=not args.paused)
    say_created(session, answer)
    return outcome.follow(session, answer.experiment.id) if args.follow_first_trial else None


def fork(args: argparse.Namespace) -> int | None:
    """Submit the config and the code of an experiment again, with changes."""
    session = connect(args)
    source = experiment.get(session, args.experiment_id)
    if source.unmanaged:
        raise FailedPrecondition(
            f"experiment {args.experiment_id} was run outside of the cluster and has no code to fork"
        )
    usage = "det e fork EXPERIMENT_ID --config-file CONFIG_FILE"
    changes = override_config(args.config_file, args.config, usage)
    request = CreateExperimentRequest(
        activate=not args.paused,
        config=changed(source.original_config, changes),
        parent_id=args.experiment_id,
        project_id=source.project_id,
        template=args.template or source.template,
        submitter_python=environment.active_python() or sys.executable,
    )
    answer = experiment.create(session, request)
    say_created(session, answer)
    return outcome.follow(session, answer.experiment.id) if args.follow_first_trial else None


def lock(args: argparse.Namespace) -> None:
    locks = experiment.environment_locks(connect(args), args.experiment_id)
    chosen = [one for one in locks if args.platform in (None, one.platform)]
    if not chosen:
        known = ", ".join(one.platform for one in locks)
        advice = f"it has: {known}" if known else "they are there once a trial with environment.python has begun"
        wanted = f" for {args.platform}" if args.platform else ""
        raise NotFound(f"experiment {args.experiment_id} has no resolved packages{wanted}; {advice}")
    for one in chosen:
        if len(chosen) > 1:
            render.line(f"# {one.platform}")
        render.raw(one.content)


_FOLLOW = one_of(
    arg("-f", "--follow-first-trial", action="store_true", help="follow the log of the first trial"),
    arg("--paused", action="store_true", help="create it paused"),
)
FORK = command(
    "fork",
    "submit config and code of experiment again, with changes",
    fork,
    _ID,
    *CONFIG_CHANGES,
    arg("--template", completes="template", help="the template to build on; by default that of the experiment"),
    _FOLLOW,
)
REPRODUCE = command(
    "reproduce",
    "run experiment again with the same config, code, seeds and packages",
    reproduce,
    _ID,
    _FOLLOW,
)
LOCK = command(
    "lock",
    "print the resolved packages of environment.python",
    lock,
    _ID,
    arg("--platform", help="only for this kind of machine and Python, such as linux-x86_64-py3.11"),
)
