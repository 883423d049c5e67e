"""`det` in this process against the real master: what it refuses is told in words, as one line, with status 1."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from determined.api.login import login
from determined.api.token_store import TokenStore
from determined.cli.main import main

CONFIG = """
name: first
entrypoint: python3 train.py
searcher: {name: random, metric: loss, max_trials: 2}
hyperparameters: {lr: {type: double, minval: 0.1, maxval: 0.2}}
resources: {slots_per_trial: 0}
"""


@dataclass
class Done:
    status: int
    out: str
    err: str


Det = Callable[..., Done]


@pytest.fixture
def det(
    start_master: Any,
    sqlite_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Det:
    """`det(*words, stdin="")`; `-u admin` is logged in."""
    url = start_master(sqlite_url).url
    for name in ("DET_USER", "DET_PASS", "DET_USER_TOKEN", "DET_DEBUG", "DET_MASTER_ADDR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DET_MASTER", url)
    monkeypatch.setenv("DET_DEBUG_CONFIG_PATH", str(tmp_path / "config"))
    monkeypatch.setenv("DET_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    TokenStore(url, tmp_path / "config").save("admin", login(url, "admin", ""))
    (tmp_path / "config.yaml").write_text(CONFIG)

    def run(*words: str, stdin: str = "") -> Done:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        try:
            status = main(list(words))
        except SystemExit as e:
            status = int(e.code or 0)
        captured = capsys.readouterr()
        return Done(status, captured.out, captured.err)

    return run


def _rows(done: Done) -> list[dict[str, str]]:
    assert done.status == 0, done.err
    return list(csv.DictReader(io.StringIO(done.out)))


HUGE = "9" * 20
REFUSED = [
    (["e", "describe", HUGE], ""),
    (["e", "describe", str(2**63 - 1)], "not found"),
    (["e", "pause", "99"], "99"),
    (["e", "label", "add", "99", "x"], "99"),
    (["e", "logs", "99"], "99"),
    (["e", "list-trials", "99"], "99"),
    (["e", "list-checkpoints", "99"], "99"),
    (["e", "download-model-def", "99"], "99"),
    (["e", "wait", "99"], "99"),
    (["e", "fork", "99"], "99"),
    (["e", "continue", "99"], "99"),
    (["e", "reproduce", "99"], "99"),
    (["e", "extend", "99", "--trials", "1"], "99"),
    (["e", "move", "99", "Uncategorized", "Uncategorized"], "99"),
    (["t", "kill", "99"], "99"),
    (["t", "describe", "99"], "99"),
    (["t", "download", "99", "--best"], "99"),
    (["c", "delete", "u-1", "--yes"], "u-1"),
    (["c", "rm", "u-1", "--glob", "*", "--yes"], "u-1"),
    (["job", "update", "none", "--priority", "1"], "none"),
    (["job", "list", "-p", "none"], "resource pool 'none' not found; the pools are default"),
    (["e", "list", "--limit", "-5"], "-5"),
    (["t", "logs", "99", "--timestamp-before", "then"], "'then' is not a time"),
    (["e", "create", "config.yaml", "--config", "searcher.metric=1"], "<config>.searcher.metric"),
    (["e", "create", "config.yaml", "--config", "resources.priority=1000"], "<config>.resources.priority"),
    (["user", "create", "a/b", "--remote"], "'a/b'"),
    (["res", "agg", "2026-02-01", "2026-01-01"], "2026-01-01 is earlier than start_date=2026-02-01"),
    (["user", "rename", "determined", "admin"], "admin"),
    (["user", "activate", "nobody"], "nobody"),
    (["token", "list", "nobody"], "nobody"),
    (["token", "revoke", "99"], "99"),
    (["w", "create", ""], ""),
    (["w", "create", "Uncategorized"], "Uncategorized"),
    (["w", "create", "a\x1bb"], "name"),
    (["w", "delete", "Uncategorized", "--yes"], ""),
    (["p", "create", "Uncategorized", "x"], "Uncategorized"),
    (["rp", "bindings", "list-workspaces", "none"], "none"),
    (["res", "agg", "yesterday", "today"], "yesterday"),
    (["res", "raw", "then", "now"], "then"),
    (["master", "cluster-message", "set", "-m", "x", "-d", "soon"], "soon"),
    (["master", "cluster-message", "set", "-m", "x", "-e", "2000-01-01T00:00:00Z"], ""),
    (["agent", "enable", "none"], "none"),
    (["slot", "disable", "none", "0"], "none"),
]


def test_what_the_master_refuses_is_one_line_with_the_value(det: Det) -> None:
    problems = []
    for words, said in REFUSED:
        done = det("-u", "admin", *words)
        fine = done.status == 1 and said in done.err and done.err.startswith("Failed to ")
        if not fine or "Traceback" in done.err or len(done.err.splitlines()) > 2 or done.out:
            problems.append((words, done))
    assert problems == []


def test_other_users_may_look_and_not_change(det: Det) -> None:
    det("-u", "admin", "w", "create", "theirs")
    det("-u", "admin", "p", "create", "theirs", "vision")
    det("-u", "admin", "e", "create", "config.yaml", "--paused")
    assert det("w", "describe", "theirs").status == det("e", "describe", "1").status == 0
    for words in (
        ["w", "edit", "theirs", "--name", "mine"],
        ["w", "delete", "theirs", "--yes"],
        ["p", "edit", "theirs", "vision", "--new-name", "mine"],
        ["e", "delete", "1", "--yes"],
        ["e", "delete-tb-files", "1"],
        ["user", "create", "eve", "--password", "Passw0rdX"],
        ["user", "edit", "admin", "--admin", "false"],
        ["master", "cluster-message", "set", "-m", "x"],
    ):
        done = det(*words)
        assert (done.status, "Traceback" in done.err) == (1, False), words
    assert {row["Name"] for row in _rows(det("w", "list", "--csv"))} >= {"theirs"}
    assert _rows(det("e", "list", "-a", "--csv"))[0]["State"] == "PAUSED"


def test_listings_follow_order_and_page_size(det: Det) -> None:
    for name in ("pear", "apple", "zebra"):
        assert det("w", "create", name).status == 0
    listed = _rows(det("w", "list", "--sort-by", "name", "--order-by", "desc", "--limit", "1", "--csv"))
    names = [row["Name"] for row in listed]
    assert names == ["zebra", "Uncategorized", "pear", "apple"], "whatever the case"
    skipped = _rows(det("w", "list", "--sort-by", "name", "--offset", str(len(names) - 1), "--csv"))
    assert [row["Name"] for row in skipped] == ["zebra"]


def test_wide_and_quoted_names_go_there_and_back(det: Det) -> None:
    name = "\u673a\u5668, \"größe\" 'x'; rm"
    assert det("w", "create", name).status == 0
    assert det("p", "create", name, name, "--description", "two\nlines").status == 0
    assert json.loads(det("w", "describe", name, "--json").out)["name"] == name
    [row] = _rows(det("p", "list", name, "--csv"))
    assert (row["Name"], row["Description"]) == (name, "two\nlines")
    assert "two\\nlines" in det("p", "list", name).out


def test_experiment_is_labelled_renamed_archived_and_deleted(det: Det) -> None:
    created = det("e", "create", "config.yaml", "--paused", "--config", "labels=a,b")
    assert (created.status, created.out) == (0, "Created experiment 1\n")
    for words in (["label", "add", "1", "c"], ["label", "remove", "1", "a"], ["set", "name", "1", "second"]):
        assert det("e", *words).status == 0
    one = json.loads(det("e", "describe", "1", "--json").out)[0]["experiment"]
    assert (one["name"], sorted(one["labels"])) == ("second", ["b", "c"])
    early = det("e", "archive", "1")
    assert (early.status, "1" in early.err) == (1, True), "it has not ended"
    assert det("e", "kill", "1").out == "Killed experiment 1\n"
    assert det("e", "wait", "1", "--polling-interval", "0.05").status == 1
    assert det("e", "archive", "1").status == 0
    assert _rows(det("e", "list", "--csv")) == []
    assert [row["Archived"] for row in _rows(det("e", "list", "-a", "--csv"))] == ["True"]
    assert det("e", "delete", "1", "--yes").status == 0


def test_search_is_previewed_without_an_experiment(det: Det) -> None:
    lines = det("preview-search", "config.yaml").out.splitlines()
    assert lines[0] == "Searcher random would run 2 trial(s):"
    assert any(line.startswith("Slots: ") for line in lines)
    assert json.loads(det("preview-search", "config.yaml", "--json").out)["totalTrials"] == 2
    assert _rows(det("e", "list", "-a", "--csv")) == []


def test_deactivated_user_can_do_nothing_until_activated_again(det: Det) -> None:
    assert det("-u", "admin", "user", "create", "eve", "--password", "-", stdin="Passw0rdX\n").status == 0
    assert det("user", "login", "eve", stdin="Passw0rdX\n").status == 0
    det("-u", "admin", "user", "deactivate", "eve")
    refused = det("user", "whoami")
    assert (refused.status, "det user login eve" in refused.err) == (1, True)
    det("-u", "admin", "user", "activate", "eve")
    assert det("user", "login", "eve", stdin="Passw0rdX\n").status == 0
    assert det("user", "whoami").out == "You are logged in as user 'eve'\n"


def test_token_works_as_its_owner_until_it_is_revoked(det: Det) -> None:
    made = json.loads(det("token", "create", "-d", "night \u4f60", "--json").out)
    assert [row["Description"] for row in _rows(det("token", "list", "--csv"))] == ["night \u4f60"]
    assert det("token", "login", "-", stdin=f"{made['token']}\n").status == 0
    assert det("user", "whoami").status == 0
    det("-u", "admin", "token", "revoke", str(made["tokenId"]))
    assert det("user", "whoami").status == 1
    assert _rows(det("-u", "admin", "token", "list", "determined", "--csv")) == []
    [row] = _rows(det("-u", "admin", "token", "list", "determined", "--show-inactive", "--csv"))
    assert row["Revoked"] == "True"
