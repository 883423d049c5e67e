"""Files that a task wrote to its working directory and stored nowhere: the log says that they go with it."""

import os
from collections.abc import Iterator
from pathlib import Path

from determined.rundir.layout import RunDir

# What people mean to keep, however small.
_RESULTS = frozenset(
    [".ckpt", ".h5", ".joblib", ".keras", ".npy", ".npz", ".onnx", ".parquet", ".pickle", ".pkl", ".pt", ".pth",
     ".safetensors"]
)  # fmt: skip
_NOTICEABLE_BYTES = 64 * 1024
_MOST_FILES = 5000  # looked at: a training may have unpacked its data here
_DEEPEST = 100  # levels: os.walk recurses
_NAMED = 3


def describe(run_dir: RunDir) -> str | None:
    """Return the line about them; None when there are none."""
    files = sorted(_new_files(run_dir), key=lambda one: (Path(one[0]).suffix not in _RESULTS, -one[1]))
    if not files:
        return None
    names = ", ".join(f"{name} ({_size(size)})" for name, size in files[:_NAMED])
    more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    return (
        f"the working directory is deleted now, and with it files that this task wrote there: {names}{more}; to keep"
        " such files save them in a checkpoint (core_context.checkpoint.store_path), or write to an absolute path"
    )


def _new_files(run_dir: RunDir) -> Iterator[tuple[str, int]]:
    """Yield files that were not sent and are in no directory that was uploaded as a checkpoint."""
    stored = _uploaded(run_dir)
    looked, depth = 0, str(run_dir.workdir).count("/")
    for directory, folders, names in os.walk(run_dir.workdir):
        if directory.count("/") - depth > _DEEPEST:
            folders.clear()
        folders[:] = [n for n in folders if n[0] != "." and n != "__pycache__" and f"{directory}/{n}" not in stored]
        for name in names:
            looked += 1
            if looked > _MOST_FILES:
                return
            path = Path(directory, name)
            size = _noticeable(path)
            relative = path.relative_to(run_dir.workdir)
            if size and not (run_dir.model / relative).exists():
                yield str(relative), size


def _uploaded(run_dir: RunDir) -> set[str]:
    try:
        return set(run_dir.uploaded.read_text().splitlines())
    except (OSError, UnicodeDecodeError):
        return set()


def _noticeable(path: Path) -> int:
    """Return the size of a file; 0 for a file that nobody would miss."""
    try:
        size = 0 if path.is_symlink() else path.stat().st_size
    except OSError:
        return 0
    return size if size >= _NOTICEABLE_BYTES or path.suffix in _RESULTS else 0


def _size(number: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if number < 1024:
            return f"{number:.0f} {unit}"
        number /= 1024
    return f"{number:.1f} GiB"
