"""Globs as shells read them, within any time, and refused when they make no sense."""

import fnmatch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from determined.storage.globs import Glob
from determined.storage.listing import list_directory, match_globs, select, with_parents


@pytest.mark.parametrize(
    ("glob", "names", "others"),
    [
        ("*", ["a", ".hidden", "é"], ["a/b"]),
        ("**", ["a", "a/b/c"], []),
        ("**/*", ["a", "a/b/c"], []),
        ("a/**", ["a/b", "a/b/c"], ["a", "b/a"]),
        ("**/a", ["a", "x/a", "x/y/a"], ["xa", "a/b"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/xb"]),
        ("a**b", ["ab", "a/x/b"], ["a/x"]),
        ("*.tar.gz", ["x.tar.gz", ".tar.gz"], ["x.tar.gz.part", "d/x.tar.gz"]),
        ("step-??", ["step-01", "step-ab"], ["step-1", "step-001", "step-0/"]),
        ("[a-c]1", ["a1", "c1"], ["d1", "-1"]),
        ("[!a-c]1", ["d1", "!1"], ["a1"]),
        ("[]x]", ["]", "x"], ["["]),
        ("[[]", ["["], ["]"]),
        ("[a&&b]", ["a", "&", "b"], ["c"]),
        ("[a~~b|]", ["~", "|"], ["c"]),
        ("[\\d]", ["\\", "d"], ["1"]),
        ("[", ["["], ["a"]),
        ("a[", ["a["], ["a"]),
        ("a.b+c(1)$^{2}", ["a.b+c(1)$^{2}"], ["aXb+c(1)$^{2}"]),
        ("x\ny*", ["x\nyz"], ["x"]),
        ("größe-*.pt", ["größe-1.pt"], ["große-1.pt"]),
        ("d/", ["d"], ["d/x", "e"]),
        ("a[!b]c", ["axc"], ["abc", "a/c"]),
    ],
)  # fmt: skip
def test_a_glob_matches_these_and_not_those(glob: str, names: list[str], others: list[str]) -> None:
    pattern = Glob(glob)
    assert [name for name in names if not pattern.matches(name)] == []
    assert [name for name in others if pattern.matches(name)] == []


@pytest.mark.parametrize("glob", ["", "..", "../x", "a/../b", "a/.."])
def test_a_glob_that_leaves_the_checkpoint_is_refused(glob: str) -> None:
    with pytest.raises(ValueError, match="it must name files inside the checkpoint"):
        match_globs(["a"], [glob])


@pytest.mark.parametrize("glob", ["[z-a]", "x[9-0]y"])
def test_a_range_that_is_none_is_refused_with_how_to_write_one(glob: str) -> None:
    with pytest.raises(ValueError, match=r"is refused \(bad character range .*\); write a range as \[a-z\]"):
        match_globs(["a"], [glob])


@pytest.mark.parametrize(
    ("glob", "name"),
    [
        ("**/" * 30 + "x", "a/" * 60 + "y"),
        ("*a" * 30 + "b", "a" * 250),
        ("**a" * 30 + "b", "a/" * 120 + "a"),
        ("?*" * 40 + "/", "x" * 200 + "/y"),
    ],
    ids=["directories", "stars", "double stars", "questions"],
)
def test_a_glob_with_many_ways_through_it_ends_at_once(glob: str, name: str) -> None:
    assert not Glob(glob).matches(name)


@settings(max_examples=200)
@given(st.text("ab*?", min_size=1, max_size=8), st.text("ab", max_size=8))
def test_within_a_name_globs_are_those_of_python(glob: str, name: str) -> None:
    assert Glob(glob).matches(name) == fnmatch.fnmatchcase(name, glob)


@settings(max_examples=200)
@given(st.lists(st.sampled_from(["a", "b", "*", "**"]), min_size=1, max_size=5), st.text("ab/", max_size=8))
def test_a_glob_of_directories_matches_what_its_parts_match(parts: list[str], name: str) -> None:
    def matches(pattern: list[str], words: list[str]) -> bool:
        if not pattern:
            return not words
        if pattern[0] == "**" and len(pattern) > 1:
            return any(matches(pattern[1:], words[skip:]) for skip in range(len(words) + 1))
        if pattern[0] == "**":
            return bool(words)
        return bool(words) and fnmatch.fnmatchcase(words[0], pattern[0]) and matches(pattern[1:], words[1:])

    words = name.split("/")
    expected = matches(parts, words)
    assert Glob("/".join(parts)).matches(name) == expected


def test_a_directory_that_matches_takes_what_is_in_it_along_and_its_neighbour_stays() -> None:
    paths = ["code/", "code/a", "code/sub/", "code/sub/b", "code2/", "code2/c"]
    assert match_globs(paths, ["code"]) == {"code/", "code/a", "code/sub/", "code/sub/b"}
    assert match_globs(paths, []) == set()
    assert match_globs(paths, ["nothing", "code2/*"]) == {"code2/c"}


def test_parents_are_added_only_where_they_are_known() -> None:
    assert with_parents(["a/", "a/b"], ["a/b", "x/y"]) == {"a/", "a/b", "x/y"}
    assert select(["a/", "a/b", "c"], lambda path: False) == set()


def test_a_selector_is_asked_about_every_path_directories_included() -> None:
    asked: list[str] = []
    select(["a/", "a/b", "c"], lambda path: bool(asked.append(path)))
    assert asked == ["a/", "a/b", "c"]


def test_what_is_no_directory_cannot_be_listed(tmp_path: object) -> None:
    with pytest.raises(FileNotFoundError, match="does not exist; nothing to list"):
        list_directory(f"{tmp_path}/none")
    with pytest.raises(NotADirectoryError, match="a checkpoint is a directory"):
        list_directory(__file__)
