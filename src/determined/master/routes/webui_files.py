"""Locations of the built web page and guide, and the file of theirs that answers a request."""

import gzip
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

# No part begins with a dot: neither `..` nor a hidden file can be asked for.
_NAME = re.compile(r"(?:[A-Za-z0-9_@-][\w.@-]*/)*[A-Za-z0-9_@-][\w.@-]*", re.ASCII)
_LONGEST = 200  # characters; to ask the system for a name that is longer than it allows is an error of its own
_ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
KINDS = {
    ".css": "text/css",
    ".ico": "image/x-icon",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".woff2": "font/woff2",
}


@dataclass(frozen=True, slots=True)
class WebFile:
    content: bytes
    kind: str
    encoding: str | None = None


def page_directory() -> Path | None:
    """Find the built web page; None when there is none."""
    return _built("webui", "webui/dist")


def guide_directory() -> Path | None:
    """Find the built documentation site; None when there is none."""
    return _built("guide", "build/guide")


def _built(in_package: str, in_checkout: str) -> Path | None:
    """An editable install takes what stands beside its sources."""
    package = Path(str(files("determined")))
    places = [package / in_package]
    if package.parent.name == "src":
        places.append(package.parents[1] / in_checkout)
    return next((place for place in places if (place / "index.html").is_file()), None)


def web_file(root: Path, name: str, accept_encoding: str, kinds: Mapping[str, str] = KINDS) -> WebFile | None:
    """Read a file, compressed where the client takes that and the build made it; None for what is no public file.

    Of some files a wheel has only the compressed form; a client that takes none gets what is in it.
    """
    path = root / name
    if len(name) > _LONGEST or not _NAME.fullmatch(name) or path.suffix not in kinds:
        return None
    kind = kinds[path.suffix]
    for encoding, suffix in _ENCODINGS:
        smaller = path.with_name(path.name + suffix)
        if accepts(accept_encoding, encoding) and smaller.is_file():
            return WebFile(smaller.read_bytes(), kind, encoding)
    if path.is_file():
        return WebFile(path.read_bytes(), kind)
    packed = path.with_name(f"{path.name}.gz")
    return WebFile(gzip.decompress(packed.read_bytes()), kind) if packed.is_file() else None


def accepts(header: str, encoding: str) -> bool:
    """Tell whether an Accept-Encoding header names this encoding and does not weigh it with zero."""
    for item in header.lower().split(","):
        name, _, weight = item.strip().partition(";")
        if name.strip() == encoding:
            return not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", weight)
    return False
