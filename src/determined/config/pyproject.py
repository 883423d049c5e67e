"""Settings of a `pyproject.toml` for uv that no lock in the format of pip can carry."""

from typing import Any


def explicit_indexes(text: str) -> list[str]:
    """Return addresses of the indexes that are used for packages assigned to them alone."""
    if "explicit" not in text:
        return []
    import tomllib  # here, because most texts have none, and a warm start should not wait for it

    try:
        content: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return []  # uv says what is wrong with it
    for key in ("tool", "uv", "index"):
        content = content.get(key) if isinstance(content, dict) else None
    indexes = [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []
    return [str(one["url"]) for one in indexes if one.get("explicit") and "url" in one]
