"""The text of a requirements or lock file: its entries, the options among them, and what cannot be used of it."""

import re
from collections.abc import Iterator

_COMMENT = re.compile(r"(^|\s)#.*$")
_INDEX_OPTION = re.compile(
    r"(--index-url|-i|--extra-index-url|--find-links|-f|--no-index|--trusted-host|--no-binary|--only-binary)\b"
)
_EDITABLE = re.compile(r"(-e|--editable)\b")
_INCLUDED = re.compile(r"(?:-r|--requirement|-c|--constraint)[\s=]*(\S+)")
_FIND_LINKS = re.compile(r"(?:-f|--find-links)[\s=]*(\S+)")
_LOCAL = re.compile(r"(?:[\w.\[\],-]+\s*@\s*)?(\.{0,2}/\S+|file:\S+)")
_PINNED = re.compile(r"[\w.-]+\s*(\[[^\]]*\])?\s*(===?\s*[^\s*,;]+\s*(;.*)?$|@\s)")


def entries(text: str) -> Iterator[str]:
    """One per requirement or option: continued lines joined, comments gone, hashes kept."""
    joined = re.sub(r"\\\r?\n", " ", text)
    for line in joined.splitlines():
        entry = _COMMENT.sub("", line).strip()
        if entry:
            yield entry


def index_options(text: str) -> list[str]:
    """The lines that say where packages come from; a resolver leaves them out of its lock."""
    return [entry for entry in entries(text) if _INDEX_OPTION.match(entry)]


def included_files(text: str) -> list[str]:
    """Other files that this one reads (`-r`, `-c`), as written."""
    return [found[1] for entry in entries(text) if (found := _INCLUDED.match(entry))]


def find_links(text: str) -> list[str]:
    return [found[1] for entry in entries(text) if (found := _FIND_LINKS.match(entry))]


def local_paths(text: str) -> list[str]:
    """Wheels and source directories that are named by their place, as written."""
    return [found[1] for entry in entries(text) if (found := _LOCAL.match(entry))]


def editable_entries(text: str) -> list[str]:
    return [entry for entry in entries(text) if _EDITABLE.match(entry)]


def unpinned_entries(text: str) -> list[str]:
    """What a lock must not hold: requirements that are met by more than one version."""
    named = (entry for entry in entries(text) if not entry.startswith("-") and not _LOCAL.match(entry))
    return [bare for entry in named if not _PINNED.match(bare := entry.split(" --hash")[0].strip())]
