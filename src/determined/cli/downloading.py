"""A checkpoint's download with a progress bar on the terminal."""

import argparse
import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path

from determined.api.session import Session
from determined.cli import render
from determined.errors import FailedPrecondition
from determined.wire.checkpoint import Checkpoint

_LOOK_SECONDS = 0.2


def fetch(session: Session, checkpoint: Checkpoint, target: Path, args: argparse.Namespace, mode: str = "auto") -> None:
    """Put the files in `target` unless they are there already, and say so. `mode`: auto, direct, master."""
    from determined.sdk.download import download
    from determined.sdk.enums import DownloadMode

    _refuse_other(checkpoint, target)
    size = sum(int(v) for v in (checkpoint.resources or {}).values())
    with render.Progress(f"checkpoint {checkpoint.uuid[:8]}", size) as bar, _watching(target, bar):
        path = download(session, checkpoint, target, DownloadMode(mode))
    render.line(str(path) if args.quiet else f"Downloaded checkpoint {checkpoint.uuid} to {path}")


def _refuse_other(checkpoint: Checkpoint, target: Path) -> None:
    """Refuse a directory with another checkpoint: its files would be taken for those of this one."""
    try:
        there = json.loads((target / "metadata.json").read_bytes())
    except (OSError, ValueError):
        return
    key = "steps_completed"
    if isinstance(there, dict) and key in there and there[key] != (checkpoint.metadata or {}).get(key):
        raise FailedPrecondition(
            f"{target} holds another checkpoint, of {there[key]} batches; give another directory with -o, or remove it"
        )


@contextlib.contextmanager
def _watching(target: Path, bar: render.Progress) -> Iterator[None]:
    """Move the bar by what has arrived on disk: stores copy in their own ways and tell nothing meanwhile."""
    if not bar.shown:
        yield
        return
    ended = threading.Event()
    watcher = threading.Thread(target=_watch, args=(target, bar, ended), name="download progress")
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def _watch(target: Path, bar: render.Progress, ended: threading.Event) -> None:
    while not ended.wait(_LOOK_SECONDS):
        with contextlib.suppress(FileNotFoundError):  # a temporary file may be renamed between listing and looking
            bar.at(sum(p.stat().st_size for p in target.rglob("*") if p.is_file()))
    bar.at(bar.total)
