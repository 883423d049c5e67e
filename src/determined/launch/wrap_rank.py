"""`python3 -m determined.launch.wrap_rank RANK SCRIPT...`: runs SCRIPT and marks each line of its output `[rank=N]`.

RANK is a number, or names of environment variables separated by commas, of which the first present one counts.
"""

import argparse
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from determined.constants import DEFAULT_RUN_DIR
from determined.launch._arguments import EMPTY
from determined.launch._program import ignores_failures, keep
from determined.launch._supervisor import supervise
from determined.launch._worker import Work
from determined.launch.environment import variables
from determined.rundir.failure import Failure


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    script = options.script[1:] if options.script[:1] == ["--"] else options.script
    if not script:
        sys.stderr.write(f"{_parser().format_usage()}error: {EMPTY}\n")
        return 1
    rank = find_rank(options.rank, variables())
    if rank is None:
        sys.stderr.write(f"error: none of {options.rank} is set; give a number or the variable that holds the rank\n")
        return 1
    if not rank.isdigit():
        sys.stderr.write(f"error: the rank in {options.rank} is {rank!r}, not a number\n")
        return 1
    _enter_stable_workdir()
    return run(rank, script, redirect=not options.no_redirect_stdio)


def find_rank(text: str, environment: Mapping[str, str]) -> str | None:
    if text.isdigit():
        return text
    return next((environment[name] for name in text.split(",") if name in environment), None)


def run(rank: str, script: list[str], *, redirect: bool) -> int:
    """The status of the script; -n when signal n ended it."""
    work = Work(script, dict(variables()), int(rank))
    return supervise([work], on_failure=_keep, outputs=_outputs(redirect), ignores_failure=ignores_failures).code


def _keep(failure: Failure) -> None:
    """Launchers other than ours tell nobody which of their ranks failed first; a restart of theirs counts anew."""
    attempt = variables().get("TORCHELASTIC_RESTART_COUNT", "0")
    keep(replace(failure, attempt=int(attempt) if attempt.isdigit() else 0))


def _outputs(redirect: bool) -> tuple[BinaryIO, BinaryIO]:
    """Return our own streams, or the container's log files: a launcher on another node has no way to our streams.

    The files are appended to: other ranks write to them too.
    """
    logs = Path(DEFAULT_RUN_DIR) / "train" / "logs"
    if not redirect or not (logs / "stdout.log").exists():
        return sys.stdout.buffer, sys.stderr.buffer
    return (logs / "stdout.log").open("ab", buffering=0), (logs / "stderr.log").open("ab", buffering=0)


def _enter_stable_workdir() -> None:
    """Launchers start workers in the resolved directory; user code expects the path it knows."""
    stable = Path(DEFAULT_RUN_DIR) / "workdir"
    if str(Path.cwd()).endswith(str(stable)) and stable.exists():
        os.chdir(stable)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="wrap_rank", description="Mark each output line of SCRIPT with its rank.")
    parser.add_argument("--no-redirect-stdio", action="store_true", help="write to our own stdout and stderr")
    parser.add_argument("rank", metavar="RANK", help="a number, or environment variables to look in: A,B")
    parser.add_argument("script", metavar="SCRIPT", nargs=argparse.REMAINDER)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
