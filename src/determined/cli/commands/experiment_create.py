"""det experiment create: reads config and model directory, submits, follows; also `--local`, `--test-mode`."""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from determined.api import experiment, trial
from determined.api.session import Session
from determined.cli import environment, outcome, render
from determined.cli.connection import connect
from determined.cli.grammar import UsageError, arg, command, one_of
from determined.errors import InvalidConfig
from determined.wire.experiment import CreateExperimentRequest, CreateExperimentResponse

_LAUNCH_WARNING = "it asks for more slots than its pool has now, and waits for them: det job list"
_OVER = {"COMPLETED", "CANCELED", "ERROR"}
_JSON_GROWTH = 4 / 3  # file contents travel as base64


def create(args: argparse.Namespace) -> int | None:
    text = config_text(args.config_file, args.config)
    if args.local:
        from determined.cli import local_run

        return local_run.run(text, Path(args.model_def or "."), test_mode=args.test_mode)
    if args.publish:
        render.warn("-p/--publish: port tunnels are not in this version yet; the experiment runs without them")
    files, size = _files(args.model_def, args.include)
    request = CreateExperimentRequest(
        activate=not args.paused,
        config=text,
        model_definition=files,
        project_id=args.project_id,
        template=args.template,
        validate_only=False,
        submitter_python=environment.submitters_python() or sys.executable,
    )
    session = connect(args, start=True)
    if args.test_mode:
        return _test(session, request)
    with render.Progress("Sending files", int(size * _JSON_GROWTH)) as bar:
        answer = experiment.create(session, request, sending=bar.advance if bar.shown else None)
    say_created(session, answer)
    return outcome.follow(session, answer.experiment.id) if args.follow_first_trial else None


def say_created(session: Session, answer: CreateExperimentResponse) -> None:
    for warning in answer.messages or [_LAUNCH_WARNING] * len(answer.warnings or []):
        render.warn(f"Warning: {warning}")
    render.line(f"Created experiment {answer.experiment.id}")
    render.line(f"  {session.master_url}/det/experiments/{answer.experiment.id}", file=sys.stderr)


def config_text(path: str, overrides: list[str], usage: str = "det e create CONFIG_FILE MODEL_DIR") -> str:
    """Return the file as written; with overrides it is read, changed and written again (comments are lost)."""
    from determined import config as configuration

    file = Path(path)
    if not file.is_file():
        what = "is a directory" if file.is_dir() else "does not exist"
        raise UsageError(f"config file '{path}' {what}; usage: {usage}")
    try:
        text = file.read_text()
        raw = configuration.parse_yaml(text)
    except UnicodeDecodeError as e:
        raise InvalidConfig(f"invalid experiment config file '{path}': it is not UTF-8 text ({e})") from e
    except InvalidConfig as e:
        raise InvalidConfig(f"invalid experiment config file '{path}'", str(e).splitlines()) from e
    return _dump(configuration.apply_overrides(raw, overrides)) if overrides else text


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


def _files(model_def: str | None, includes: list[str]) -> tuple[list[Any], int]:
    """Return what is sent, and its size."""
    if model_def is None and not includes:
        return [], 0
    from determined.rundir import context

    root = Path(model_def) if model_def is not None else None
    entries = context.read_directory(root, [Path(i) for i in includes], notice=render.warn)
    total = sum(context.content_size(e) for e in entries)
    files = "1 file" if len(entries) == 1 else f"{len(entries)} files"
    render.line(f"Preparing files to send to master... {render.size_of(total)} and {files}")
    return entries, total


def _test(session: Session, request: CreateExperimentRequest) -> int:
    """Validate, then run a short experiment and say how far it came."""
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


def _watch(session: Session, experiment_id: int) -> str:
    """Say each state it comes to, and what of the code was seen to work; the last state."""
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


def _stages(session: Session, experiment_id: int) -> list[str]:
    """Return what the test's only trial has done so far."""
    found = next(iter(experiment.trials(session, experiment_id)), None)
    if found is None:
        return []
    saved = any(True for _ in trial.checkpoints(session, found.id))
    seen = {
        "training: ok": found.total_batches_processed > 0,
        "validation: ok": found.latest_validation is not None,
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
    arg("config_file", help="the experiment's config (YAML)"),
    arg("model_def", nargs="?", help="the directory with the training code"),
    arg("-i", "--include", action="append", default=[], metavar="PATH", help="send this file or directory too"),
    arg("--local", action="store_true", help="run on this machine without a master"),
    arg("--template", help="the template to build on"),
    arg("--project_id", "--project-id", type=int, help="the project to put it in"),
    arg("--config", action="append", default=[], metavar="KEY=VALUE", help="one field of the config"),
    arg("-p", "--publish", action="append", default=[], metavar="PORT[:PORT]", help="(later) tunnel a port"),
    one_of(
        arg("-f", "--follow-first-trial", action="store_true", help="follow the log of the first trial"),
        arg("--paused", action="store_true", help="create it paused"),
        arg("-t", "--test-mode", action="store_true", help="validate, then try the code on one batch"),
    ),
)
