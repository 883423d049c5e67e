"""What people type first: words of other tools, mistyped nouns, other ways to start `det`."""

import subprocess
import sys

import pytest

from determined._version import __version__
from determined.cli.main import _MEANT, NOUNS, main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["login"], "det user login NAME"),
        (["auth", "login"], "det user login NAME"),
        (["rbac", "list"], "no other roles"),
        (["expriment", "list"], "did you mean 'det experiment'?"),
        (["e", "lst"], "did you mean 'det experiment list'?"),
        (["e", "stop", "1"], "did you mean 'det experiment cancel'?"),
        (["e", "resume", "1"], "did you mean 'det experiment activate'?"),
        (["w", "show", "1"], "did you mean 'det workspace describe'?"),
        (["e", "describe", "abc"], "'abc' is not a number"),
        (["t", "describe", "abc"], "trial_id: 'abc' is not a whole number"),
        (["checkpoint", "list"], "did you mean: det experiment list-checkpoints"),
        (["c", "ls"], "did you mean: det experiment list-checkpoints"),
        (["e", "list", "--jsn"], "did you mean '--json'?"),
    ],
)
def test_what_was_meant_is_said(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = main(words)
    except SystemExit as e:
        status = int(e.code or 0)
    assert status == 2
    assert said in capsys.readouterr().err


def test_what_is_there_is_not_answered_with_another_word() -> None:
    assert not {name for names, _, _ in NOUNS for name in names} & set(_MEANT)


@pytest.mark.parametrize("module", ["determined", "determined.cli", "determined.cli.main", "redetermined"])
def test_det_starts_as_a_module_too(module: str) -> None:
    done = subprocess.run([sys.executable, "-m", module, "--version"], check=True, capture_output=True, text=True)
    assert done.stdout == f"det {__version__}\n"
