"""Commands about this machine: masters of one's own, clusters, environments, versions, schemas."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from recorded_master import Det, Terminal
from small_master import SmallMaster

from determined._version import __version__
from determined.api import own_master
from determined.api.own_master import MasterState
from determined.cli import own_masters
from determined.environments import cache
from determined.environments.cache_directory import place_of


def _save(directory: Path, url: str, pid: int = 2**22 + 5) -> MasterState:
    directory.mkdir(parents=True)
    state = MasterState(url=url, pid=pid, version="1", identity="i", password="p", data_dir=str(directory))
    own_master.save(directory / "state.json", state)
    return state


def test_without_a_master_commands_say_how_to_get_one(alone: Det) -> None:
    done = alone("e", "list")
    assert (done.status, done.out) == (1, "")
    assert done.err.endswith("name one with -m or $DET_MASTER, or start one with: det master start\n")


def test_version_is_told_also_without_a_master(alone: Det) -> None:
    done = alone("version")
    assert done.status == 0
    assert yaml.safe_load(done.out) == {"client": {"version": __version__}, "master": None, "master_address": None}
    assert "det master start" in done.err


def test_version_of_a_named_master_is_told_without_logging_in(det: Det, master: SmallMaster) -> None:
    answer = yaml.safe_load(det("version").out)
    assert (answer["master"], answer["master_address"]) == ({"serverVersion": __version__}, master.url)
    assert master.tokens() == []


def test_embedded_master_that_does_not_run_ends_status_with_1(alone: Det) -> None:
    done = alone("master", "status")
    assert (done.status, done.out) == (1, "Not running; start it with: det master start\n")
    told = alone("master", "status", "--json")
    assert (told.status, json.loads(told.out)) == (1, {"url": None})
    assert alone("master", "stop").out == "Not running\n"


def test_state_file_of_a_master_that_is_gone_is_no_running_master(alone: Det, surroundings: Path) -> None:
    _save(surroundings / "state" / "embedded", "http://127.0.0.1:9")
    assert alone("master", "status").status == 1


def test_damaged_and_readable_state_files_are_passed_over(surroundings: Path) -> None:
    _save(surroundings / "state" / "clusters" / "good", "http://127.0.0.1:9")
    for name, text, mode in (("damaged", "{", 0o600), ("open", "{}", 0o644)):
        file = surroundings / "state" / "clusters" / name / "state.json"
        file.parent.mkdir()
        file.write_text(text)
        file.chmod(mode)
    _save(surroundings / "state" / "embedded", "http://127.0.0.1:8")
    assert [(m.name, m.is_embedded) for m in own_masters.known()] == [
        ("cluster good", False),
        ("the embedded master", True),
    ]


def test_number_of_another_process_is_no_running_master(surroundings: Path) -> None:
    _save(surroundings / "state" / "embedded", "http://127.0.0.1:9", pid=os.getpid())
    assert [m.is_running for m in own_masters.known()] == [False]
    assert own_masters.at("http://127.0.0.1:9") is None


@pytest.fixture
def two_masters(surroundings: Path, monkeypatch: pytest.MonkeyPatch) -> list[MasterState]:
    monkeypatch.setattr(own_masters, "_is_running", lambda pid: True)
    cluster = _save(surroundings / "state" / "clusters" / "lab", "http://127.0.0.1:9")
    return [cluster, _save(surroundings / "state" / "embedded", "http://127.0.0.1:8")]


def test_person_with_two_masters_is_told_which_one_answers(
    two_masters: list[MasterState], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    own_masters.say_which(two_masters[0])
    assert screen.getvalue() == (
        "\x1b[2mcluster lab answers at http://127.0.0.1:9; also yours: the embedded master (http://127.0.0.1:8); "
        "choose with det -m URL\x1b[0m\n"
    )


def test_script_is_not_told_which_master_answers(
    two_masters: list[MasterState], capsys: pytest.CaptureFixture[str]
) -> None:
    own_masters.say_which(two_masters[0])
    assert capsys.readouterr().err == ""


def test_address_of_the_embedded_master_alone_has_the_command_that_signs_in(
    two_masters: list[MasterState], capsys: pytest.CaptureFixture[str]
) -> None:
    for state in two_masters:
        own_masters.say_sign_in(state.url, "det open experiment 2")
    assert capsys.readouterr().err == "  signed in: det open experiment 2\n"


def test_status_names_the_clusters_that_commands_ask_first(alone: Det, two_masters: list[MasterState]) -> None:
    out = alone("master", "status").out.splitlines()
    assert out[0].startswith("Not running")
    pid = two_masters[0].pid
    assert out[1:] == [f"Also running: cluster lab at http://127.0.0.1:9 (pid {pid}); commands without -m ask this one"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["master", "restore", "none.tar.gz"], "none.tar.gz"),
        (["deploy", "local", "logs", "--no-follow"], "cluster determined has no log at"),
        (["deploy", "local", "agent-up", "other.example"], "cannot add an agent to a master on 'other.example'"),
        (["deploy", "local", "agent-up", "localhost"], "cluster determined is not running"),
        (["deploy", "local", "agent-up", "localhost", "--agent-config-path", "none"], "no agent config at 'none'"),
        (["deploy", "local", "agent-down", "--all"], "start it with: det deploy local cluster-up"),
        (["deploy", "gcp", "list"], "Clouds are not provisioned by this version"),
        (["environment", "clean", "none"], "there is no environment none in"),
    ],
)
def test_what_is_not_there_is_named_with_status_1(alone: Det, words: list[str], said: str) -> None:
    done = alone(*words)
    assert (done.status, done.out) == (1, "")
    assert said in done.err and "Traceback" not in done.err


@pytest.mark.parametrize(("flags", "goes_on"), [([], True), (["--delete-db"], False)])
def test_stopped_cluster_says_that_training_goes_on_unless_its_data_went(
    alone: Det, monkeypatch: pytest.MonkeyPatch, flags: list[str], goes_on: bool
) -> None:
    monkeypatch.setattr("determined.deploy.local.down", lambda name, *, delete_db: True)
    out = alone("deploy", "local", "cluster-down", *flags).out
    assert out.startswith("Stopped cluster determined") and ("running training goes on" in out) is goes_on


def test_cluster_that_does_not_run_is_not_stopped(alone: Det) -> None:
    assert alone("deploy", "local", "cluster-down").out == "Cluster determined is not running\n"
    assert alone("deploy", "ray", "down", "--cluster-name", "r").out == "r is not running\n"


def test_log_of_a_cluster_is_printed_to_its_end_with_control_characters_shown(alone: Det, surroundings: Path) -> None:
    file = surroundings / "state" / "clusters" / "lab" / "master.log"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"one\ntwo \x1b[2J\n\xff last")
    done = alone("deploy", "local", "logs", "--no-follow", "--cluster-name", "lab")
    assert done.out == "one\ntwo \\x1b[2J\n\ufffd last"


def test_agent_is_added_as_its_file_says_unless_flags_say_otherwise(
    det: Det, master: SmallMaster, surroundings: Path
) -> None:
    (surroundings / "agent.yaml").write_text("agent_id: big\nresource_pool: gpus\nartificial_slots: 4\n")
    answer = {"agent": {"id": "x", "slotStats": {"brandStats": {}, "typeStats": {}}}}
    master.answers["POST", "/api/v1/agents"] = (200, answer)
    words = ["-m", master.url, "deploy", "local", "agent-up", "localhost", "--agent-config-path", "agent.yaml"]
    assert det(*words).out == "Added agent big with 4 slot(s) to pool gpus\n"
    assert det(*words, "--agent-name", "n", "--slots", "0").out == "Added agent n with 0 slot(s) to pool gpus\n"
    bodies = [json.loads(body) for method, path, _, body in master.asked if path == "/api/v1/agents"]
    assert [(b["id"], b["slots"], b["resourcePool"]) for b in bodies] == [("big", 4, "gpus"), ("n", 0, "gpus")]


def _cached(surroundings: Path, key: str, **record: Any) -> Path:
    path = surroundings / "cache" / "determined" / "environments" / key
    (path / "bin").mkdir(parents=True)
    (path / "bin" / "python").symlink_to("/bin/sh")
    cache.publish(path, {"size": 2048, "python": "3.11.7", "packages": 12, **record})
    return path


def test_environments_are_listed_with_size_and_use(alone: Det, surroundings: Path) -> None:
    assert json.loads(alone("environment", "--json").out) == []
    path = _cached(surroundings, "abc")
    [listed] = json.loads(alone("env", "list", "--json").out)
    assert (listed["id"], listed["size"], listed["inUse"], listed["path"]) == ("abc", 2048, False, str(path))
    assert "abc | 3.11.7 |       12 | 2.0KB" in alone("env").out


def test_environments_that_are_not_used_are_removed_and_others_named(alone: Det, surroundings: Path) -> None:
    for key in ("old", "used", "young"):
        _cached(surroundings, key)
    long_ago = time.time() - 10 * 86400
    os.utime(surroundings / "cache/determined/environments/old/determined.json", (long_ago, long_ago))
    place = place_of({"XDG_CACHE_HOME": str(surroundings / "cache")}, print)
    hold = cache.Hold(cache.lock_of(place, "used"))
    assert hold.share()
    assert alone("env", "clean", "--older-than", "5").out == "Removed 1 environment(s), 2.0KB\nKept 1 in use: used\n"
    assert alone("env", "clean", "young").out == "Removed 1 environment(s), 2.0KB\nKept 1 in use: used\n"
    hold.close()
    assert alone("env", "clean").out == "Removed 1 environment(s), 2.0KB\n"


@pytest.mark.parametrize("kind", [[], ["experiment"], ["master"]])
def test_schema_of_a_config_is_json_that_names_its_keys(alone: Det, kind: list[str]) -> None:
    schema = json.loads(alone("config", "schema", *kind).out)
    assert ("searcher" in json.dumps(schema)) is (kind != ["master"])


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_asks_det_itself(alone: Det, shell: str) -> None:
    assert "__complete" in alone("completion", shell).out
