"""Run what our pages on PyTorch show. Apart from the other pages: files run side by side, and torch starts slowly."""

import importlib.util
from pathlib import Path

import pytest
from documents import name_of, pages, pages_with_torch_blocks, pytorch_pages, read_through


@pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="needs PyTorch: install redetermined[torch] beside the tests"
)
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("document", [*pytorch_pages(), *pages_with_torch_blocks()], ids=name_of)
def test_what_a_page_on_pytorch_shows_works(document: Path, tmp_path: Path) -> None:
    read_through(document, tmp_path, block_seconds=180, packages={"torch"})


def test_pages_on_pytorch_are_pages() -> None:
    assert set(pytorch_pages()) <= set(pages())
