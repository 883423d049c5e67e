"""A lock in the format of `pylock.toml` (PEP 751): which of its packages lie on this disk. Other texts have none."""

from collections.abc import Iterator

from determined._json import JsonObject

_PACKAGE = "[[packages]]"


def is_pylock(text: str) -> bool:
    return _PACKAGE in text


def count_packages(text: str) -> int:
    return text.count(_PACKAGE)


def package_paths(text: str) -> list[str]:
    """Relative to where the lock lies."""
    paths = (part.get("path") for package in _packages(text) for part in _parts(package))
    return [path for path in paths if isinstance(path, str)]


def editable_packages(text: str) -> list[str]:
    return [str(one.get("name")) for one in _packages(text) if any(part.get("editable") for part in _parts(one))]


def _packages(text: str) -> list[JsonObject]:
    if not is_pylock(text):
        return []
    import tomllib  # here, because most locks are in the format of pip

    try:
        packages = tomllib.loads(text).get("packages")
    except tomllib.TOMLDecodeError:
        return []  # uv says what is wrong with it
    return [one for one in packages if isinstance(one, dict)] if isinstance(packages, list) else []


def _parts(package: JsonObject) -> Iterator[JsonObject]:
    wheels = package.get("wheels")
    for part in (package.get("directory"), package.get("archive"), package.get("sdist"), *(wheels or ())):
        if isinstance(part, dict):
            yield part
