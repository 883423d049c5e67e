"""Links that user code leaves in a checkpoint it is writing. None of them is stored."""

import shutil
import uuid
from pathlib import Path


def resolve(root: Path) -> None:
    """Put in the place of each link below `root` what it points to: a checkpoint lives on when that changes.

    A file inside `root` is linked hard and costs nothing; whatever is outside is copied. A link to a directory around
    itself becomes an empty one.
    """
    top = root.resolve()
    for link in [path for path in sorted(root.rglob("*")) if path.is_symlink()]:
        target = link.resolve()
        part = link.with_name(f".{uuid.uuid4()}.part")  # no name that the user has given to another file
        if target.is_dir():
            link.unlink()
            link.mkdir()
            if not link.resolve().is_relative_to(target):
                shutil.copytree(target, link, dirs_exist_ok=True)
            continue
        _link_or_copy(target, part, inside=target.is_relative_to(top))
        part.replace(link)


def _link_or_copy(target: Path, part: Path, *, inside: bool) -> None:
    if inside:
        part.hardlink_to(target)
    else:
        shutil.copy(target, part)
