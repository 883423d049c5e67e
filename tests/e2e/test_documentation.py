"""Run or check every command, script and configuration in our documents as a reader would, page by page.

A line right before a block says what is special about it: ``File `name`:`` (save it under this name for later blocks),
`<!-- not run: why -->`, `<!-- exit status: 1 -->`, `<!-- given: PATH -->` (a file or directory of this repository that
the reader is to have), `<!-- needs: torch -->` (left to test_pytorch_documentation.py).
"""

from pathlib import Path

import pytest
from documents import (
    RUN,
    SHOWN,
    Reader,
    blocks,
    documents,
    missing_lines,
    name_of,
    pages,
    pytorch_pages,
    read_through,
)

LONG = {"hyperparameter-search", "operating", "generic-api", "distributed-training"}  # half a minute each
OTHER_PAGES = [
    pytest.param(page, marks=pytest.mark.slow) if page.stem in LONG else page
    for page in pages()
    if page not in pytorch_pages()
]


@pytest.mark.timeout(600)  # of a page
@pytest.mark.parametrize("document", OTHER_PAGES, ids=name_of)
def test_what_a_document_shows_works(document: Path, tmp_path: Path) -> None:
    read_through(document, tmp_path)


@pytest.mark.parametrize("document", documents(), ids=name_of)
def test_blocks_have_a_known_language_and_a_reason_when_they_are_not_run(document: Path) -> None:
    for block in blocks(document):
        assert block.language in RUN + SHOWN, f"{block.where}: ```{block.language} is not one of {RUN + SHOWN}"
        reason = block.marks.get("not run")
        if reason is not None:
            print(f"{block.where} is not run: {reason}")
            assert len(reason.split()) > 3, f"{block.where}: say in a sentence why this is not run"


def test_most_blocks_are_run() -> None:
    """The way out is for what cannot run in a test, not for what does not work."""
    every = [block for document in documents() for block in blocks(document) if block.language in RUN]
    left_out = [f"{b.where}: {b.marks['not run']}" for b in every if "not run" in b.marks]
    assert len(left_out) * 5 <= len(every), "\n".join(left_out)


def test_a_variable_of_a_block_is_there_in_the_next(tmp_path: Path) -> None:
    reader = Reader(tmp_path, pages()[0], 1)
    assert reader.shell("ID=$(echo 'a b'); NAME=c\nfalse").returncode == 1
    assert reader.shell("ID=${ID}d").returncode == 0
    assert reader.shell('echo "$ID"').stdout == "a bd\n"
    assert reader.shell('echo "$OTHER"').returncode != 0


def test_a_promised_line_that_does_not_come_is_noticed() -> None:
    output = "[2026-11-15T05:43:48.262115Z] af8a180c || INFO: [20406] root: x=10.0\nCreated experiment 1\n"
    assert not missing_lines(["[2020-01-01T00:00:00.0Z] 00000000 || INFO: [1] root: x=10.0"], output)
    assert missing_lines(["Created experiment 2"], output) == ["Created experiment 2"]
    assert missing_lines(["Created experiment 1", "[1] x"], output) == ["[1] x"]
