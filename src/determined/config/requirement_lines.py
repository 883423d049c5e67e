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
_NAMED = re.compile(r"^[\w.-]+\s*(\[[^\]]*\])?\s*@\s*")
_EXTRAS = re.compile(r"\[[^\]]*\]$")
_ARCHIVES = (".whl", ".zip", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_PINNED = re.compile(r"[\w.-]+\s*(\[[^\]]*\])?\s*===?\s*[^\s*,;]+\s*(;.*)?$")
_BARE_PLACE = re.compile(r"^((?:-e )?)(?![./#-]|file:)([^\s=@]+(?: *;.*| *\\)?)$", re.MULTILINE)
# The name and password of a URL. `${TOKEN}` is no secret: who installs reads it from the environment.
_LOGIN = re.compile(r"(https?://)(?![^/\s@]*\$\{)[^/\s@]+@")
_URL = re.compile(r"https?://[^\s\"'#]+")


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
    """Wheels and source directories that are named by their place, as written but for extras and markers."""
    return [place for entry in entries(text) if (place := _place_of(entry)) and _is_local(place)]


def editable_entries(text: str) -> list[str]:
    return [entry for entry in entries(text) if _EDITABLE.match(entry)]


def unpinned_entries(text: str) -> list[str]:
    """What a lock must not hold: requirements that are met by more than one version."""
    named = (entry for entry in entries(text) if not entry.startswith("-") and not _is_placed(entry))
    return [bare for entry in named if not _PINNED.match(bare := entry.split(" --hash")[0].strip())]


def unhashed_entries(text: str) -> list[str]:
    """Requirements that any file of their version meets."""
    named = (entry for entry in entries(text) if not entry.startswith("-") and not _is_placed(entry))
    return [entry for entry in named if "--hash" not in entry]


def marked_places(lock: str) -> str:
    """A lock by uv, in which a directory may stand by its bare name, as a package does: `pkg` becomes `./pkg`."""
    return _BARE_PLACE.sub(r"\1./\2", lock)


def without_logins(text: str, shown: str = "") -> str:
    """`https://name:secret@host/` becomes `https://host/`; `shown` takes the place of what went."""
    return _LOGIN.sub(rf"\1{shown}", text)


def with_logins(text: str, sources: str) -> str:
    """The URLs of `text` with the logins that `sources`, from which it was made, have for them."""
    known = {without_logins(url): url for url in _URL.findall(sources)}
    return _URL.sub(lambda found: known.get(found[0], found[0]), text)


def _place_of(entry: str) -> str:
    """The first word, without `name @`, extras, markers and fragment: a place if it is one."""
    if entry.startswith("-"):
        return ""
    words = re.split(r"[\s;#]", _NAMED.sub("", entry, count=1), maxsplit=1)
    return _EXTRAS.sub("", words[0])


def _is_local(place: str) -> bool:
    if place.startswith(("file:", ".", "/", "~")):
        return True
    return "://" not in place and ("/" in place or place.endswith(_ARCHIVES))


def _is_placed(entry: str) -> bool:
    place = _place_of(entry)
    return "://" in place or _is_local(place)
