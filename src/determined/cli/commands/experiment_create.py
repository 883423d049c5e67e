"""det experiment create: reads config and model directory, submits, follows; also `--local`, `--test-mode`.

What talks to a master is imported by the functions that do. It takes longer than all else that comes before a submit,
and a new master starts while it is imported; what follows a trial is imported while the trial starts.
"""

import argparse
import contextlib
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from determined.cli import embedded_start, environment, own_masters, render
from determined.cli.config_file import config_text
from determined.cli.context_files import JSON_GROWTH, read_files
from determined.cli.grammar import FILES, UsageError, arg, command, one_of

if TYPE_CHECKING:
    from determined.api.session import Session
    from determined.wire.experiment import CreateExperimentRequest, CreateExperimentResponse, File

_LAUNCH_WARNING = "it asks for more slots than its pool has now, and waits for them: det job list"
_OVER = {"COMPLETED", "CANCELED", "ERROR"}
# Of commands that submit an experiment again.
CONFIG_CHANGES = (
    arg("--config-file", help="config to merge over the experiment's"),
    arg("--config", action="append", default=[], metavar="KEY=VALUE", help="one field of the config"),
)


def create(args: argparse.Namespace) -> int | None:
    text = config_text(args.config_file, args.config)
    if args.local:
        from determined.cli import local_run

        return local_run.run(text, Path(args.model_def or "."), test_mode=args.test_mode)
    files, size = read_files(args.model_def, args.include)
    embedded_start.begin(args, meanwhile=_import_what_follows)
    from determined.cli.connection import connect

    request = _request(args, text, files)
    session = connect(args, start=True)
    if args.test_mode:
        return _test(session, request)
    if args.publish:
        return _create_published(session, request, size, args)
    answer = _submit(session, request, size)
    return _follow(session, answer.experiment.id) if args.follow_first_trial else None


def _import_what_follows() -> None:
    from determined.cli import connection, outcome  # noqa: F401  both are used later on


def _request(args: argparse.Namespace, text: str, files: "list[File]") -> "CreateExperimentRequest":
    from determined.wire.experiment import CreateExperimentRequest

    return CreateExperimentRequest(
        activate=not args.paused,
        config=text,
        model_definition=files,
        project_id=args.project_id,
        template=args.template,
        validate_only=False,
        submitter_python=environment.submitters_python() or sys.executable,
    )


def _follow(session: "Session", experiment_id: int) -> int:
    from determined.cli import outcome

    return outcome.follow(session, experiment_id)


def _submit(session: "Session", request: "CreateExperimentRequest", size: int) -> "CreateExperimentResponse":
    from determined.api import experiment

    with render.Progress("Sending files", int(size * JSON_GROWTH)) as bar:
        answer = experiment.create(session, request, sending=bar.advance if bar.shown else None)
    say_created(session, answer)
    if not request.model_definition:
        render.warn("No files were sent with it; to send those of this directory: det e create CONFIG_FILE .")
    return answer


def _create_published(
    session: "Session", request: "CreateExperimentRequest", size: int, args: argparse.Namespace
) -> int | None:
    """Create it and follow its first trial, with ports of this machine that lead to ports of the trial."""
    from determined.cli.published_ports import PublishedPorts  # with it comes all that a WebSocket needs

    if not args.follow_first_trial:
        raise UsageError("-p works while the first trial is followed; add -f")
    with contextlib.closing(PublishedPorts(session, args.publish)) as ports:
        answer = _submit(session, request, size)
        ports.lead_to(answer.experiment.id)
        return _follow(session, answer.experiment.id)


def say_created(session: "Session", answer: "CreateExperimentResponse") -> None:
    for warning in answer.messages or [_LAUNCH_WARNING] * len(answer.warnings or []):
        render.warn(f"Warning: {warning}")
    render.line(f"Created experiment {answer.experiment.id}")
    render.line(f"  {session.master_url}/det/experiments/{answer.experiment.id}", file=sys.stderr)
    own_masters.say_sign_in(session.master_url, f"det open experiment {answer.experiment.id}")


def override_config(path: str | None, overrides: list[str], usage: str) -> str:
    if path is not None:
        return config_text(path, overrides, usage)
    from determined.config import apply_overrides

    return _dump(apply_overrides({}, overrides))


def changed(text: str, changes: str) -> str:
    """Return a config with another merged over it; as it is written where nothing changes."""
    from determined.config import merge, parse_yaml

    over = parse_yaml(changes)
    return _dump(merge(over, parse_yaml(text))) if over else text


def _dump(raw: dict[str, Any]) -> str:
    from determined.config import dump_yaml

    return dump_yaml(raw)


def _test(session: "Session", request: "CreateExperimentRequest") -> int:
    """Validate, then run a short experiment and say how far it came."""
    from determined.api import experiment
    from determined.cli import outcome

    request.validate_only = True
    experiment.create(session, request)
    render.line("Validating config: ok")
    request.validate_only = False
    request.config = _shortened(request.config or "")
    created = experiment.create(session, request).experiment.id
    render.line(f"Created test experiment {created}")
    state = _watch(session, created)
    experiment.act(session, created, "archive")
    if state == "COMPLETED":
        render.line("Model definition test succeeded! 🎉", style="green")
        return 0
    render.fail(f"Test experiment ended in {state}; see: det experiment logs {created}")
    return outcome.report(session, experiment.get(session, created))


def _watch(session: "Session", experiment_id: int) -> str:
    """Say each state it comes to, and what of the code was seen to work; the last state."""
    from determined.api import experiment

    said: set[str] = set()
    while True:
        state = render.state_of(experiment.get(session, experiment_id).state)
        is_over = state in _OVER
        for stage in [*_stages(session, experiment_id), state.lower()]:
            if stage not in said:
                render.line(f"  {stage}")
                said.add(stage)
        if is_over:
            return state
        time.sleep(0.2)


def _stages(session: "Session", experiment_id: int) -> list[str]:
    """Return what the test's only trial has done so far."""
    from determined.api import experiment, trial

    first_trial = next(iter(experiment.trials(session, experiment_id)), None)
    if first_trial is None:
        return []
    saved = any(True for _ in trial.checkpoints(session, first_trial.id))
    seen = {
        "training: ok": first_trial.total_batches_processed > 0,
        "validation: ok": first_trial.latest_validation is not None,
        "checkpoint: ok": saved,
    }
    return [stage for stage, done in seen.items() if done]


def _shortened(text: str) -> str:
    from determined.config import parse_yaml
    from determined.config.test_mode import one_batch

    return _dump(one_batch(parse_yaml(text)))


COMMAND = command(
    "create",
    "create experiment",
    create,
    arg("config_file", completes=FILES, help="the experiment's config (YAML)"),
    arg("model_def", completes=FILES, nargs="?", help="the directory with the training code"),
    arg("-i", "--include", action="append", default=[], metavar="PATH", help="send this file or directory too"),
    arg("--local", action="store_true", help="run on this machine without a master"),
    arg("--template", completes="template", help="the template to build on"),
    arg("--project_id", "--project-id", type=int, help="the project to put it in"),
    arg("--config", action="append", default=[], metavar="KEY=VALUE", help="one field of the config"),
    arg(
        "-p",
        "--publish",
        action="append",
        default=[],
        metavar="PORT[:PORT]",
        help="with -f: a port of the first trial on this machine (LOCAL[:REMOTE])",
    ),
    one_of(
        arg("-f", "--follow-first-trial", action="store_true", help="follow the log of the first trial"),
        arg("--paused", action="store_true", help="create it paused"),
        arg("-t", "--test-mode", action="store_true", help="validate, then try the code on one batch"),
    ),
)
