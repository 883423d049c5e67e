"""`det` in this process, against a small HTTP server that answers from a table."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "api"))
sys.path.insert(0, str(Path(__file__).parent))

from recorded_master import Det, Done, Terminal, Turns, standing
from small_master import SmallMaster, serving

from determined.cli.main import main

VARIABLES = ("DET_MASTER_ADDR", "DET_USER", "DET_PASS", "DET_USER_TOKEN", "DET_DEBUG", "DET_CLI_COLORIZE")


@pytest.fixture(autouse=True)
def _colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs these tests may want none."""
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.fixture
def master(monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallMaster]:
    monkeypatch.setattr("socketserver.BaseServer.handle_error", lambda *_: None)  # a client that leaves is no error
    with serving(Turns(standing())) as small:
        yield small


@pytest.fixture
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, which is the working directory too, and no master that anybody named."""
    for name in (*VARIABLES, "DET_MASTER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DET_DEBUG_CONFIG_PATH", str(tmp_path / "config"))
    monkeypatch.setenv("DET_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def alone(surroundings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Det:
    """`alone(*words, stdin="", typed=None, watched=False)`: a run of `det` that no master was named to.

    `typed`: what a person types where standard input is a terminal. `watched`: the output goes to one as well.
    """

    def run(*words: str, stdin: str = "", typed: str | None = None, watched: bool = False) -> Done:
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdin", io.StringIO(stdin) if typed is None else Terminal(typed))
            screens = (Terminal(), Terminal())
            if watched:
                patch.setattr("sys.stdout", screens[0])
                patch.setattr("sys.stderr", screens[1])
            try:
                status = main(list(words))
            except SystemExit as e:
                status = int(e.code or 0)
        captured = capsys.readouterr()
        if watched:
            return Done(status, screens[0].getvalue(), screens[1].getvalue())
        return Done(status, captured.out, captured.err)

    return run


@pytest.fixture
def det(alone: Det, master: SmallMaster, monkeypatch: pytest.MonkeyPatch) -> Det:
    """As `alone`, with DET_MASTER naming the small master."""
    monkeypatch.setenv("DET_MASTER", master.url)
    return alone
