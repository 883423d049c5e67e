"""`python3 -m determined.launch.wrap_rank RANK SCRIPT...`: runs SCRIPT and marks each line of its output `[rank=N]`.

RANK is a number, or names of environment variables separated by commas, of which the first present one counts.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from determined.constants import DEFAULT_RUN_DIR, MAX_LOG_LINE_BYTES
from determined.launch.environment import variables

_FORWARDED = (
    signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH,
)  # fmt: skip
_LINE_END = re.compile(rb"\r\n|\n|\r")
_CHUNK_BYTES = 64 * 1024


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    script = options.script[1:] if options.script[:1] == ["--"] else options.script
    if not script:
        sys.stderr.write(f"{_parser().format_usage()}error: empty script is not allowed\n")
        return 1
    rank = find_rank(options.rank, variables())
    if rank is None:
        sys.stderr.write(f"error: none of {options.rank} is set; give a number or the variable that holds the rank\n")
        return 1
    _enter_stable_workdir()
    return run(rank, script, redirect=not options.no_redirect_stdio)


def find_rank(text: str, environment: Mapping[str, str]) -> str | None:
    if text.isdigit():
        return text
    return next((environment[name] for name in text.split(",") if name in environment), None)


def run(rank: str, script: list[str], *, redirect: bool) -> int:
    """The status of the script; -n when signal n ended it."""
    outputs = _outputs(redirect)
    with subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        for number in _FORWARDED:
            signal.signal(number, lambda received, _: child.send_signal(received))
        assert child.stdout is not None and child.stderr is not None
        streams = zip((child.stdout, child.stderr), outputs, strict=True)
        threads = [threading.Thread(target=mark_lines, args=(rank, *pair)) for pair in streams]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return child.wait()


def mark_lines(rank: str, source: BinaryIO, target: BinaryIO) -> None:
    """Copy line by line; a progress bar's \\r ends a line too, and long lines are cut into several."""
    mark = f"[rank={rank}] ".encode()
    for line in _lines(source):
        target.write(mark + line.decode("utf-8", "replace").encode() + b"\n")
        target.flush()


def _lines(source: BinaryIO) -> Iterator[bytes]:
    rest = b""
    while chunk := os.read(source.fileno(), _CHUNK_BYTES):
        rest += chunk
        # A \r at the very end may be half of \r\n: it waits for the next chunk.
        held = b"\r" if rest.endswith(b"\r") else b""
        *lines, rest = _LINE_END.split(rest[: len(rest) - len(held)])
        rest += held
        for line in lines:
            yield from _pieces(line)
        while len(rest) > MAX_LOG_LINE_BYTES:
            yield rest[:MAX_LOG_LINE_BYTES]
            rest = rest[MAX_LOG_LINE_BYTES:]
    if rest:
        yield from _pieces(rest.removesuffix(b"\r"))


def _pieces(line: bytes) -> Iterator[bytes]:
    for start in range(0, max(len(line), 1), MAX_LOG_LINE_BYTES):
        yield line[start : start + MAX_LOG_LINE_BYTES]


def _outputs(redirect: bool) -> tuple[BinaryIO, BinaryIO]:
    """Our own streams, or the container's log files: a launcher on another node has no way to our streams."""
    logs = Path(DEFAULT_RUN_DIR) / "train" / "logs"
    if not redirect or not (logs / "stdout.log").exists():
        return sys.stdout.buffer, sys.stderr.buffer
    return (logs / "stdout.log").open("wb", buffering=0), (logs / "stderr.log").open("wb", buffering=0)


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
