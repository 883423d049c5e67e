"""Source trees made on the spot: their build backend lies in them, so that building one asks no index."""

from pathlib import Path

_PROJECT = """\
[project]
name = "{name}"
version = "1.0"

[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
_BACKEND = """\
import os, zipfile

NAME = {name!r}
INFO = NAME + "-1.0.dist-info/"


def build_wheel(directory, config_settings=None, metadata_directory=None):
    {first}
    wheel = NAME + "-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, wheel), "w") as archive:
        archive.write(NAME + ".py")
        archive.writestr(INFO + "METADATA", "Metadata-Version: 2.1\\nName: " + NAME + "\\nVersion: 1.0\\n")
        archive.writestr(INFO + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr(INFO + "RECORD", "")
    return wheel


build_editable = build_wheel
"""


def make_project(directory: Path, name: str, *, code: str = "", first: str = "pass") -> Path:
    """A package whose module has `code`; its build begins with the statement `first`."""
    directory.mkdir(parents=True, exist_ok=True)
    backend = _BACKEND.format(name=name, first=first)
    texts = {"pyproject.toml": _PROJECT.format(name=name), "backend.py": backend, f"{name}.py": code}
    for file, text in texts.items():
        (directory / file).write_text(text)
    return directory
