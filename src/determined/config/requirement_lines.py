"""Text of a requirements or lock file: entries, options among them, and entries that cannot be used.

`packaging` reads single requirements (PEP 508). Files hold options, hashes, bare paths and logins as well, which it
refuses, so only the pattern of a pin could become a call of it. Tasks would then need `packaging` in the interpreter of
the user: config/masking.py imports this module there.
"""

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
    """Yield each requirement or option: join continued lines, drop comments, keep hashes."""
    joined = re.sub(r"\\\r?\n", " ", text)
    for line in joined.splitlines():
        entry = _COMMENT.sub("", line).strip()
        if entry:
            yield entry


def index_options(text: str) -> list[str]:
    """List the lines that say where packages come from; a resolver leaves them out of its lock."""
    return [entry for entry in entries(text) if _INDEX_OPTION.match(entry)]


def included_files(text: str) -> list[str]:
    """List other files that this one reads (`-r`, `-c`), as written."""
    return [option[1] for entry in entries(text) if (option := _INCLUDED.match(entry))]


def find_links(text: str) -> list[str]:
    return [option[1] for entry in entries(text) if (option := _FIND_LINKS.match(entry))]


def local_paths(text: str) -> list[str]:
    """List wheels and source directories that are named by their path, as written but for extras and markers."""
    return [place for entry in entries(text) if (place := _place_of(entry)) and _is_local(place)]


def editable_entries(text: str) -> list[str]:
    return [entry for entry in entries(text) if _EDITABLE.match(entry)]


def unpinned_entries(text: str) -> list[str]:
    """List what a lock must not hold: requirements that are met by more than one version."""
    pins = (entry.split(" --hash")[0].strip() for entry in _from_an_index(text))
    return [pin for pin in pins if not _PINNED.match(pin)]


def unhashed_entries(text: str) -> list[str]:
    """List requirements that any file of their version meets."""
    return [entry for entry in _from_an_index(text) if "--hash" not in entry]


def marked_places(lock: str) -> str:
    """Mark directories in a lock by uv, which may name one as it names a package: `pkg` becomes `./pkg`."""
    return _BARE_PLACE.sub(r"\1./\2", lock)


def without_logins(text: str, shown: str = "") -> str:
    """Turn `https://name:secret@host/` into `https://host/`; `shown` replaces the login."""
    return _LOGIN.sub(rf"\1{shown}", text)


def with_logins(text: str, sources: str) -> str:
    """Give the URLs of `text` the logins that they have in `sources`, from which it was made."""
    urls = {without_logins(url): url for url in _URL.findall(sources)}
    return _URL.sub(lambda match: urls.get(match[0], match[0]), text)


def _from_an_index(text: str) -> list[str]:
    """List the requirements that are found by name; options, paths and URLs are left out."""
    return [entry for entry in entries(text) if not entry.startswith("-") and not _is_placed(entry)]


def _place_of(entry: str) -> str:
    """Return the first word, without `name @`, extras, markers and fragment: a place if it is one."""
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
