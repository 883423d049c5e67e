"""det experiment set: one attribute at a time."""

import argparse
from collections.abc import Callable
from typing import Any

from determined.api import experiment
from determined.cli import log_retention, render
from determined.cli.connection import connect
from determined.cli.grammar import Command, arg, command, group
from determined.wire.experiment import PatchExperiment, PatchExperimentPatchCheckpointStorage
from determined.wire.experiment import PatchExperimentPatchResources as Resources

_ID = arg("experiment_id", type=int, completes="experiment", help="experiment ID")


def setter(name: str, kind: Callable[[str], Any], changes: Callable[[Any], PatchExperiment]) -> Command:
    def run(args: argparse.Namespace) -> None:
        experiment.patch(connect(args), args.experiment_id, changes(args.value))
        render.line(f"Set {name} of experiment {args.experiment_id} to {args.value!r}")

    return command(name, f"set {name}", run, _ID, arg("value", type=kind))


def gc_policy(args: argparse.Namespace) -> int | None:
    question = "Changing the policy deletes the checkpoints it no longer keeps. Continue?"
    if not args.yes and not render.ask(question):
        return 1
    policy = PatchExperimentPatchCheckpointStorage(
        save_experiment_best=args.save_experiment_best,
        save_trial_best=args.save_trial_best,
        save_trial_latest=args.save_trial_latest,
    )
    experiment.patch(connect(args), args.experiment_id, PatchExperiment(checkpoint_storage=policy))
    render.line(f"Set the checkpoint policy of experiment {args.experiment_id}")
    return None


def _slots(text: str) -> int | None:
    if text.lower() in {"none", "null"}:
        return None
    if not text.removeprefix("-").isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number nor none")
    return int(text)


GROUP = group(
    "set",
    "set an attribute",
    setter("description", str, lambda v: PatchExperiment(description=v)),
    setter("name", str, lambda v: PatchExperiment(name=v)),
    setter("max-slots", _slots, lambda v: PatchExperiment(resources=Resources(max_slots=v))),
    setter("priority", int, lambda v: PatchExperiment(resources=Resources(priority=v))),
    setter("weight", float, lambda v: PatchExperiment(resources=Resources(weight=v))),
    command(
        "gc-policy",
        "set gc-policy",
        gc_policy,
        _ID,
        arg("--save-experiment-best", type=int, required=True),
        arg("--save-trial-best", type=int, required=True),
        arg("--save-trial-latest", type=int, required=True),
        arg("--yes", action="store_true", help="do not ask"),
    ),
    log_retention.setter("experiment", _ID, experiment.retain_logs),
)
