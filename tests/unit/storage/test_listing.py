"""Globs and selectors pick what their words say."""

import pytest

from determined.storage.listing import match_globs, select

PATHS = ["a.pt", "b.txt", "code/", "code/m.py", "code/sub/", "code/sub/n.py", "w[1].pt"]


@pytest.mark.parametrize(
    ("glob", "hit"),
    [
        ("**/*", set(PATHS)),
        ("*.pt", {"a.pt", "w[1].pt"}),
        ("?.pt", {"a.pt"}),
        ("[ab].*", {"a.pt", "b.txt"}),
        ("[!a].*", {"b.txt"}),
        ("code", {"code/", "code/m.py", "code/sub/", "code/sub/n.py"}),
        ("code/*.py", {"code/m.py"}),
        ("**/*.py", {"code/m.py", "code/sub/n.py"}),
        ("code/sub/", {"code/sub/", "code/sub/n.py"}),
        ("nothing", set()),
    ],
)
def test_a_glob_matches(glob: str, hit: set[str]) -> None:
    assert match_globs(PATHS, [glob]) == hit


def test_a_selected_path_brings_its_parent_directories() -> None:
    assert select(PATHS, lambda path: path == "code/sub/n.py") == {"code/", "code/sub/", "code/sub/n.py"}


def test_no_selector_selects_all() -> None:
    assert select(PATHS, None) == set(PATHS)
