"""Every command, script and configuration in our documents works: run or checked as a reader would, page by page.

A comment right before a block says what is special about it: `<!-- not run: why -->`, `<!-- file: name -->` (keep it
under this name for later blocks), `<!-- exit status: 1 -->`.
"""

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from documents import RUN, SHOWN, Block, Reader, blocks, documents, missing_lines

from determined import config


def _name(document: Path) -> str:
    return f"{document.parent.name}-{document.stem}"


@pytest.fixture
def reader(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Reader]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    sitting = Reader(tmp_path, request.getfixturevalue("document"), port)
    yield sitting
    sitting.leave()


@pytest.mark.parametrize("document", documents(), ids=_name)
def test_what_a_document_shows_works(document: Path, reader: Reader) -> None:
    for block in blocks(document):
        if "not run" in block.marks or block.language in SHOWN:
            continue
        if "curl " in block.text and shutil.which("curl") is None:
            pytest.skip(f"{block.where} needs curl, which this machine has not")
        _try(block, reader)


@pytest.mark.parametrize("document", documents(), ids=_name)
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


def test_a_promised_line_that_does_not_come_is_noticed() -> None:
    output = "[2026-11-15T05:43:48.262115Z] af8a180c || INFO: [20406] root: x=10.0\nCreated experiment 1\n"
    assert not missing_lines(["[2020-01-01T00:00:00.0Z] 00000000 || INFO: [1] root: x=10.0"], output)
    assert missing_lines(["Created experiment 2"], output) == ["Created experiment 2"]
    assert missing_lines(["Created experiment 1", "[1] x"], output) == ["[1] x"]


def _try(block: Block, reader: Reader) -> None:
    path = reader.write(block.marks["file"], block.text) if "file" in block.marks else None
    if block.language == "yaml":
        _check_config(block)
    elif block.language == "python":
        done = reader.python(path or reader.write("snippet.py", block.text))
        assert done.returncode == 0, f"{block.where}\n{done.stdout}"
    else:
        done = reader.shell(block.script)
        wanted = int(block.marks.get("exit status", "0"))
        assert done.returncode == wanted, f"{block.where} ended with {done.returncode}\n{done.stdout}"
        missing = missing_lines(block.shown, done.stdout)
        assert not missing, f"{block.where} promises\n{missing[0]}\nbut prints\n{done.stdout}"


def _check_config(block: Block) -> None:
    """A whole experiment must be complete; a part of one must be sound; a master.yaml is a master's."""
    raw = config.parse_yaml(block.text)
    if block.marks.get("file", "").startswith("master"):
        config.load_master_config(raw, {"HOME": "/home/nobody"}, {})
        return
    config.check_sane(raw)
    if "searcher" in raw and "entrypoint" in raw:
        storage = {"checkpoint_storage": {"type": "shared_fs", "host_path": "/checkpoints"}}
        config.check_complete(config.apply_defaults({**storage, **raw}, seed=1, name="a"))
