"""Listing of the files of a directory or checkpoint, and selection by selector or glob. Directories end with `/`."""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from determined.storage import block_names
from determined.storage.globs import Glob
from determined.storage.manifest import MANIFEST_NAME, STAGING_MARK


def list_directory(root: str | os.PathLike[str]) -> dict[str, int]:
    """Return relative path -> size of everything under `root`, sorted; directories end with `/` and count 0.

    Raises:
        FileNotFoundError: `root` is not there.
        NotADirectoryError: it is a file.
    """
    top = Path(root)
    if not top.exists():
        raise FileNotFoundError(f"{top} does not exist; nothing to list")
    if not top.is_dir():
        raise NotADirectoryError(f"{top} is a file; a checkpoint is a directory")
    sizes = dict(_walk(top, "", frozenset()))
    return {path: sizes[path] for path in sorted(sizes) if not is_our_own(path)}


def is_our_own(path: str) -> bool:
    """Check for what a store keeps in a checkpoint beside its files."""
    return path in (MANIFEST_NAME, STAGING_MARK) or path.startswith(f"{block_names.DIRECTORY}/")


def select(paths: Iterable[str], selector: Callable[[str], bool] | None) -> set[str]:
    """Return the paths a selector picks, with the parent directories each one needs."""
    names = list(paths)
    if selector is None:
        return set(names)
    return with_parents(names, [name for name in names if selector(name)])


def with_parents(known: Iterable[str], chosen: Iterable[str]) -> set[str]:
    """Return `chosen` plus every directory of `known` above one of them."""
    picked = set(chosen)
    needed = {parent for path in picked for parent in _parents(path)}
    return picked | (needed & set(known))


def match_globs(paths: Iterable[str], globs: Iterable[str]) -> set[str]:
    """Return the paths that match a glob; a matched directory takes what is in it along."""
    patterns = [Glob(glob) for glob in globs]
    names = list(paths)
    hit = {name for name in names if any(pattern.matches(name.rstrip("/")) for pattern in patterns)}
    directories = tuple(name for name in hit if name.endswith("/"))
    return hit | {name for name in names if name.startswith(directories)}


def _walk(directory: Path, prefix: str, above: frozenset[tuple[int, int]]) -> Iterator[tuple[str, int]]:
    status = directory.stat()
    here = (status.st_dev, status.st_ino)
    if here in above:
        return  # a link that leads back up: descending would never end
    with os.scandir(directory) as entries:
        children = list(entries)
    for child in children:
        path = prefix + child.name
        if child.is_dir():
            yield path + "/", 0
            yield from _walk(Path(child.path), path + "/", above | {here})
        else:
            yield path, child.stat().st_size


def _parents(path: str) -> Iterator[str]:
    parts = path.rstrip("/").split("/")
    for depth in range(1, len(parts)):
        yield "/".join(parts[:depth]) + "/"
