"""Mistakes of users end with a clear message, a status, and what to type next; nothing hangs."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cluster import Cluster, det, write_experiment
from determined.cli.main import main

UNIT_API = Path(__file__).parents[1] / "unit" / "api"


def _failed(home: Path, *words: str, master: str | None = None, status: int = 1, stdin: str = "") -> str:
    done = det(home, *words, master=master, check=False, stdin=stdin, timeout=60)
    assert done.returncode == status, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_experiment(tmp_path / "m", "print('x')")
    return tmp_path / "m"


def _create(home: Path, model: Path, text: str, master: str, **how: Any) -> str:
    (model / "config.yaml").write_text(text)
    return _failed(home, "e", "create", str(model / "config.yaml"), str(model), master=master, **how)


def test_invalid_yaml_is_told_with_its_line(cluster: Cluster, home: Path, model: Path) -> None:
    err = _create(home, model, "name: x\nsearcher: [1,\n", cluster.url)
    assert "invalid experiment config file" in err
    assert "line 3" in err


def test_every_violation_has_a_line_of_its_own(cluster: Cluster, home: Path, model: Path) -> None:
    text = "nme: x\nsearcher: {name: single, metric: 7}\nresources: {slots_per_trial: many}\nmax_restarts: -1\n"
    lines = _create(home, model, text, cluster.url).splitlines()
    assert any("`nme`" in line and "`name`" in line for line in lines)
    for path in ("<config>.searcher.metric", "<config>.resources.slots_per_trial", "<config>.max_restarts"):
        assert sum(line.startswith(path) for line in lines) == 1, (path, lines)


def test_a_missing_entrypoint_is_named(cluster: Cluster, home: Path, model: Path) -> None:
    err = _create(home, model, "searcher: {name: single, metric: x, max_length: 1}\n", cluster.url)
    assert "entrypoint" in err


def test_an_impossible_size_names_the_nearest_feasible(cluster: Cluster, home: Path, model: Path) -> None:
    words = ["e", "create", str(model / "config.yaml"), str(model), "--config", "resources.slots_per_trial=99"]
    said = _failed(home, *words, master=cluster.url)
    assert "lower it to 2" in said
    assert "det master start --slots 99" in said


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["e", "create", "none.yaml", "{m}"], 2, "none.yaml"),
        (["e", "create", "{m}", "{m}"], 2, "is a directory"),
        (["e", "create", "{c}", "none"], 1, "'none' does not exist"),
        (["e", "create", "{c}", "{c}"], 1, "is not a directory"),
        (["e", "create", "{c}", "{m}", "-i", "none"], 1, "'none' does not exist"),
        (["e", "create", "{c}", "{m}", "--config", "nothing"], 1, "key=value"),
        (["e", "create", "{c}", "{m}", "--project_id", "9999"], 1, "9999"),
        (["e", "create", "{c}", "{m}", "-f", "--paused"], 2, "not allowed with"),
        (["e", "describe", "9999"], 1, "experiment 9999 not found"),
        (["e", "describe", "x"], 2, "'x' is not a number"),
        (["t", "logs", "9999"], 1, "trial 9999 not found"),
        (["t", "logs", "1", "--head", "1", "--tail", "1"], 2, "not allowed with"),
        (["t", "logs", "1", "-f", "--head", "1"], 2, "--follow"),
        (["c", "describe", "9f9f"], 1, "checkpoint 9f9f not found"),
        (["c", "download", "9f9f"], 1, "checkpoint 9f9f not found"),
        (["task", "logs", "none"], 1, "task 'none' not found"),
        (["w", "describe", "none"], 1, "det workspace list"),
        (["p", "describe", "Uncategorized", "none"], 1, "det project list Uncategorized"),
        (["user", "edit", "none", "--active", "false"], 1, "none"),
        (["user", "edit", "none"], 2, "--display-name"),
        (["agent", "disable", "--all"], 1, "administrator"),
        (["experimen", "lst"], 2, "choose from"),
    ],
)
def test_a_wrong_word_is_told_in_its_own_terms(
    words: list[str],
    status: int,
    said: str,
    cluster: Cluster,
    home: Path,
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DET_MASTER", cluster.url)
    monkeypatch.setenv("DET_DEBUG_CONFIG_PATH", str(home))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert _status(main, [w.format(m=model, c=model / "config.yaml") for w in words]) == status
    assert said in capsys.readouterr().err


def _status(run: Callable[[list[str]], int], words: list[str]) -> int:
    try:
        return run(words)
    except SystemExit as e:
        return int(e.code or 0)


def test_a_context_over_the_limit_names_detignore_and_nothing_is_sent(
    cluster: Cluster, home: Path, model: Path
) -> None:
    with (model / "big.bin").open("wb") as file:
        file.truncate(96 * 1024 * 1024)
    err = _failed(home, "e", "create", str(model / "config.yaml"), str(model), master=cluster.url)
    assert ".detignore" in err
    assert "95 MiB" in err
    assert json.loads(det(home, "e", "ls", "--json", master=cluster.url).stdout) == []
    (model / ".detignore").write_text("big.bin\n")
    det(home, "e", "create", str(model / "config.yaml"), str(model), "--paused", master=cluster.url)


def test_an_unreachable_master_is_told_at_once(home: Path) -> None:
    assert "no master answers at http://127.0.0.1:1" in _failed(home, "e", "ls", master="127.0.0.1:1")


@pytest.mark.parametrize("address", ["http://", "ftp://host", "http://u:p@host", "host:99999"])
def test_a_wrong_address_is_told_as_such(home: Path, address: str) -> None:
    assert "master address" in _failed(home, "-m", address, "e", "ls")


def test_a_web_server_that_is_no_master_is_recognised(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(UNIT_API))
    from small_master import serving

    page = (200, b"<html>welcome</html>")
    with serving({("GET", "/info"): page, ("POST", "/api/v1/auth/login"): page}) as stranger:
        err = _failed(home, "e", "ls", master=stranger.url)
        assert "as a Determined master does" in err
        assert "DET_MASTER" in err


def test_a_wrong_password_and_a_missing_one(cluster: Cluster, home: Path) -> None:
    assert "wrong user name or password" in _failed(home, "user", "login", "admin", master=cluster.url, stdin="wrong\n")
    assert "no terminal to ask" in _failed(home, "user", "login", "admin", master=cluster.url)
    assert "det user login admin" in _failed(home, "-u", "admin", "e", "ls", master=cluster.url)


def test_an_expired_token_means_logging_in_again(cluster: Cluster, home: Path) -> None:
    det(home, "user", "login", "determined", master=cluster.url, stdin="\n")
    file = home / "config" / "determined" / "auth.json"
    data = json.loads(file.read_text())
    data["masters"][cluster.url]["tokens"]["determined"] = "v2.expired"
    file.write_text(json.dumps(data))
    assert "det user login determined" in _failed(home, "e", "ls", master=cluster.url)
    det(home, "user", "login", master=cluster.url, stdin="\n")
    det(home, "e", "ls", master=cluster.url)


def test_a_corrupted_token_file_is_removed_once_and_said(cluster: Cluster, home: Path) -> None:
    file = home / "config" / "determined" / "auth.json"
    file.parent.mkdir(parents=True)
    file.write_text("{")
    assert "det user login" in _failed(home, "e", "ls", master=cluster.url)
    det(home, "e", "ls", master=cluster.url)
