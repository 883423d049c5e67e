"""The whole command line, frozen: what scripts type must go on working."""

import argparse
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from pkgutil import iter_modules

import pytest

from determined.cli import commands
from determined.cli import main as program
from determined.cli.grammar import Command, Deferred, Group, OneOf, parser_for

SCRIPTS = Path(__file__).parents[3] / "scripts"


def _trees() -> Iterator[Command | Group]:
    for _, _, module in program.NOUNS:
        yield importlib.import_module(f"determined.cli.commands.{module}").TREE


def test_the_command_tree_is_the_frozen_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    script = importlib.import_module("make_command_tree")
    assert script.TARGET.read_text() == script.reference(), (
        "the command line changed; if that is meant, run: .venv/bin/python scripts/make_command_tree.py"
    )


def _commands(node: Command | Group) -> Iterator[Command]:
    if isinstance(node, Command):
        yield node
        return
    for child in node.children:
        yield from _commands(child)


def test_every_command_has_a_parser_and_a_help_that_completes_failed_to() -> None:
    for tree in _trees():
        for each in _commands(tree):
            assert isinstance(parser_for(each, "det x"), argparse.ArgumentParser)
            assert each.help[0].islower() or each.help.split()[0].isupper(), each.help


TASKS = ("command", "notebook", "shell", "tensorboard", "task")
# Commands of tasks whose answer is a sentence, or belongs to another program.
WITHOUT_DATA = {
    "cleanup-logs", "kill", "pause", "set priority", "shell open", "shell show-ssh-command", "shell show_ssh_command",
    "shell ssh-config", "unpause", "unshare",
}  # fmt: skip


def _with_paths(node: Command | Group, *before: str) -> Iterator[tuple[tuple[str, ...], Command]]:
    path = (*before, node.names[0])
    if isinstance(node, Command):
        yield path, node
        return
    for child in node.children:
        yield from _with_paths(child, *path)


def _has_json(each: Command) -> bool:
    args = [one for item in each.args for one in (item.args if isinstance(item, OneOf) else (item,))]
    return any("--json" in one.flags for one in args)


def test_every_command_of_tasks_with_data_in_its_answer_has_json() -> None:
    paths = [pair for tree in _trees() if tree.names[0] in TASKS for pair in _with_paths(tree)]
    odd = {
        " ".join(path)
        for path, each in paths
        if _has_json(each) == bool({" ".join(path), " ".join(path[1:])} & WITHOUT_DATA)
    }
    assert odd == set(), "add --json, or name the command in WITHOUT_DATA"


def test_every_list_has_json() -> None:
    paths = [pair for tree in _trees() if tree.names[0] != "deploy" for pair in _with_paths(tree)]
    assert [" ".join(path) for path, each in paths if path[-1].startswith("list") and not _has_json(each)] == []


def test_the_table_of_nouns_agrees_with_the_trees() -> None:
    for names, _, module in program.NOUNS:
        tree = importlib.import_module(f"determined.cli.commands.{module}").TREE
        assert tree.names[0] == names[0]
        assert set(tree.names) <= set(names)


def test_a_deferred_entry_is_what_the_command_says_of_itself() -> None:
    entries = [entry for tree in _trees() for node in _nodes(tree) for entry in getattr(node, "entries", ())]
    deferred = [entry for entry in entries if isinstance(entry, Deferred)]
    assert deferred
    for entry in deferred:
        node = entry.load()
        assert (entry.names, entry.help, entry.default) == (node.names, node.help, getattr(node, "default", False))


def test_every_tree_of_commands_is_reached_from_the_table_of_nouns() -> None:
    reached = {id(node) for tree in _trees() for node in _nodes(tree)}
    modules = [importlib.import_module(f"{commands.__name__}.{name}") for _, name, _ in iter_modules(commands.__path__)]
    missing = [module.__name__ for module in modules if hasattr(module, "TREE") and id(module.TREE) not in reached]
    assert not missing, f"add a line to NOUNS of determined/cli/main.py for {missing}"


def _nodes(node: Command | Group) -> Iterator[Command | Group]:
    yield node
    for child in node.children if isinstance(node, Group) else ():
        yield from _nodes(child)


def _loaded_by(*words: str) -> set[str]:
    code = (
        "import sys, json, io; from contextlib import redirect_stdout, suppress; from determined.cli.main import main\n"
        "with redirect_stdout(io.StringIO()), suppress(SystemExit): main(sys.argv[1:])\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_help_loads_nothing_heavy() -> None:
    heavy = {"urllib3", "msgspec", "yaml", "rich", "determined.config", "determined.api", "determined.sdk"}
    assert _loaded_by("help") & heavy == set()


def test_the_experiment_commands_load_neither_config_nor_what_starts_masters() -> None:
    heavy = {
        "yaml",
        "rich",
        "fsspec",
        "pathspec",
        "sqlite3",
        "determined.deploy",
        "determined.sdk",
        "determined.storage",
    }
    loaded = _loaded_by("experiment", "help")
    assert loaded & heavy == set()
    assert not any(m.startswith("determined.config.") for m in loaded)


def test_a_submit_imports_what_talks_to_a_master_only_once_it_has_read_its_files() -> None:
    heavy = {"urllib3", "yaml", "determined.api.session", "determined.cli.outcome", "determined.cli.connection"}
    assert _loaded_by("experiment", "create", "config.yaml", "--help") & heavy == set()


@pytest.mark.parametrize("words", [["-v"], ["--version"]])
def test_the_version_is_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(words) == 0
    assert capsys.readouterr().out.startswith("det ")


@pytest.mark.parametrize("words", [[], ["help"]])
def test_without_a_command_the_help_is_shown(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(words) == 0
    out = capsys.readouterr().out
    assert "experiment (e)" in out
    assert "det e create config.yaml . -f" in out


@pytest.mark.parametrize(("words", "named"), [(["nonsense"], "nonsense"), (["e", "nonsense"], "experiment nonsense")])
def test_an_unknown_command_ends_with_2(words: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(words) == 2
    assert named in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--nonsense"], ["e", "pause", "x"], ["e", "create"], ["e", "ls", "--nonsense"]])
def test_a_wrong_command_line_ends_with_2(words: list[str]) -> None:
    with pytest.raises(SystemExit) as e:
        program.main(words)
    assert e.value.code == 2


def test_a_group_without_a_default_prints_its_help_and_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["checkpoint"]) == 0
    assert "download checkpoint" in capsys.readouterr().out


def test_clouds_are_refused_in_one_line_whatever_the_flags(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["deploy", "aws", "up", "--cluster-id", "x", "--keypair", "k"]) == 1
    assert "not provisioned" in capsys.readouterr().err
