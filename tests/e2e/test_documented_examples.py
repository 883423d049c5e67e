"""Run what the READMEs of the examples show. A file of its own: files run side by side."""

from pathlib import Path

import pytest
from documents import examples, name_of, read_through


@pytest.mark.slow
@pytest.mark.parametrize("document", examples(), ids=name_of)
def test_what_an_example_shows_works(document: Path, tmp_path: Path) -> None:
    read_through(document, tmp_path)
