"""Kinds of imports are declared once: the process, its code and the command line follow from the declaration."""

import pytest

from determined.cli.commands.master_import import TREE
from determined.master.importing import command, registry
from determined.wire.import_kinds import KINDS


@pytest.mark.parametrize("name", KINDS)
def test_every_declared_kind_has_code_and_a_command(name: str) -> None:
    assert callable(registry.entry(name).run)
    assert name in {child.names[0] for child in TREE.children}


def test_the_process_takes_the_options_of_a_kind() -> None:
    options = command._parser().parse_args(
        ["upstream", "--source", "-", "--only=experiments=1-3", "--only=workspaces=a", "--no-logs", "--dry-run"]
    )
    assert options.only == ["experiments=1-3", "workspaces=a"]
    assert options.no_logs
    assert options.dry_run
    assert options.since is None


def test_an_unknown_kind_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        command._parser().parse_args(["floppy", "--source", "x"])
    assert raised.value.code == 2
    assert "upstream" in capsys.readouterr().err
