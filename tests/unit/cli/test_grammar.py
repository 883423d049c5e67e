"""Names, aliases and prefixes on the command line."""

import argparse

import pytest

from determined.cli.grammar import Command, Group, UnknownWord, arg, command, group, one_of, parser_for, resolve, select


def _nothing(args: argparse.Namespace) -> None:
    return None


TREE = group(
    "fruit f",
    "manage fruit",
    command("list ls", "list fruit", _nothing, default=True),
    command("describe", "describe fruit", _nothing, arg("name")),
    command("delete", "delete fruit", _nothing, arg("name"), arg("--yes", action="store_true")),
    group("label", "manage labels", command("add", "add label", _nothing, arg("label"))),
    ignored={"--quietly": False, "--prefix": True},
)


def _selected(*words: str) -> tuple[str, list[str]]:
    node, left, program = select(TREE, list(words), "det fruit")
    assert isinstance(node, Command | Group)
    return program, left


def test_a_group_alone_runs_its_default() -> None:
    node, left, _ = select(TREE, [], "det fruit")
    assert isinstance(node, Command)
    assert node.names[0] == "list"
    assert left == []


def test_options_after_a_group_belong_to_its_default() -> None:
    node, left, _ = select(TREE, ["--json"], "det fruit")
    assert isinstance(node, Command)
    assert (node.names[0], left) == ("list", ["--json"])


@pytest.mark.parametrize("word", ["list", "ls", "li"])
def test_a_command_is_found_by_name_alias_and_unique_prefix(word: str) -> None:
    assert _selected(word) == ("det fruit list", [])


def test_an_ambiguous_prefix_names_the_candidates() -> None:
    with pytest.raises(UnknownWord, match="ambiguous command 'det fruit de'; choose from: describe, delete"):
        select(TREE, ["de"], "det fruit")


def test_an_unknown_word_lists_what_may_be_typed() -> None:
    with pytest.raises(UnknownWord, match="unknown command 'det fruit peel'; choose from: list, describe, delete"):
        select(TREE, ["peel"], "det fruit")


def test_a_mistyped_command_is_answered_with_what_may_be_meant() -> None:
    with pytest.raises(UnknownWord, match="'det fruit descrbe'; did you mean 'det fruit describe'\\? choose from: "):
        select(TREE, ["descrbe"], "det fruit")


def test_a_mistyped_flag_and_a_word_for_a_number_are_answered_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    node, _, program = select(TREE, ["delete"], "det fruit")
    with pytest.raises(SystemExit):
        parser_for(node, program).parse_args(["apple", "--yess"])
    assert "unrecognized arguments: --yess; did you mean '--yes'?" in capsys.readouterr().err
    counted = command("count", "count fruit", _nothing, arg("experiment_id", type=int))
    with pytest.raises(SystemExit):
        parser_for(counted, "det fruit count").parse_args(["abc"])
    assert "experiment_id: 'abc' is not a whole number" in capsys.readouterr().err


def test_an_exact_alias_wins_over_prefixes() -> None:
    assert resolve("e", [("edit",), ("experiment", "e")], "det") == ("experiment", "e")


def test_groups_nest() -> None:
    assert _selected("label", "add", "x") == ("det fruit label add", ["x"])


def test_a_group_without_a_default_is_returned_itself() -> None:
    node, _, _ = select(TREE, ["label"], "det fruit")
    assert isinstance(node, Group)


@pytest.mark.parametrize("words", [["help"], ["--help"], ["-h"]])
def test_help_of_a_group_shows_its_commands_though_it_has_a_default(words: list[str]) -> None:
    node, _, program = select(TREE, words, "det fruit")
    assert isinstance(node, Group)
    text = parser_for(node, program).format_help()
    assert "list (ls)" in text
    assert "delete fruit" in text


@pytest.mark.parametrize(
    "words", [["--quietly", "ls"], ["--prefix", "x", "ls"], ["--prefix=x", "ls"], ["--quietly", "--prefix", "x", "ls"]]
)
def test_ignored_options_may_stand_before_the_command(words: list[str]) -> None:
    assert _selected(*words) == ("det fruit list", [])


def test_long_options_may_be_abbreviated() -> None:
    node, left, program = select(TREE, ["delete", "apple", "--y"], "det fruit")
    assert parser_for(node, program).parse_args(left).yes is True


def test_exclusive_arguments_refuse_each_other_with_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    made = command("x", "x", _nothing, one_of(arg("--a", action="store_true"), arg("--b", action="store_true")))
    with pytest.raises(SystemExit) as e:
        parser_for(made, "det x").parse_args(["--a", "--b"])
    assert e.value.code == 2
    assert "not allowed with" in capsys.readouterr().err
