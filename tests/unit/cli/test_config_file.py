"""Config files on the command line."""

import os
from pathlib import Path

import pytest

from determined.cli.config_file import config_text
from determined.cli.grammar import UsageError


def test_a_pipe_is_read_like_a_file() -> None:
    """A here-document and `<(...)` of a shell are pipes."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as pipe:
        pipe.write("a: 1\n")
    try:
        assert config_text(f"/dev/fd/{reading}", ["b=2"]) == "a: 1\nb: 2\n"
    finally:
        os.close(reading)


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a directory"):
        config_text(str(tmp_path), [])
    with pytest.raises(UsageError, match="does not exist"):
        config_text(str(tmp_path / "absent.yaml"), [])
