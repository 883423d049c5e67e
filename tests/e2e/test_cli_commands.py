"""Run every command of `det` against a real master, in this process; test_cli_following.py starts the program."""

import csv
import io
import json
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from cluster import Client, Cluster, eventually, write_experiment
from determined.api.login import login
from determined.api.token_store import TokenStore
from determined.cli.main import main

SCRIPT = """
import determined as det
from determined import core
with core.init() as context:
    for step in (1, 2):
        context.train.report_training_metrics(step, {"x": float(step)})
        context.train.report_validation_metrics(step, {"x": float(step), "y": -float(step)})
        with context.checkpoint.store_path({"steps_completed": step}) as (path, _):
            (path / "weights.bin").write_bytes(b"w" * 100 * step)
    print("trained")
"""


@dataclass
class Done:
    status: int
    out: str
    err: str


Det = Callable[..., Done]


@pytest.fixture(scope="module")
def submitted(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, int]:
    """A finished experiment and its trial."""
    client = Client(cluster.url)
    keep_all = {"checkpoint_storage": {"save_trial_latest": 5, "save_trial_best": 5}}
    config = write_experiment(tmp_path_factory.mktemp("model"), SCRIPT, {"name": "first", "labels": ["a"], **keep_all})
    experiment = client.submit(config)
    client.wait_state(experiment, "COMPLETED")
    return experiment, int(client.trials(experiment)[0]["id"])


@pytest.fixture
def det(
    cluster: Cluster, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Det]:
    monkeypatch.setenv("DET_MASTER", cluster.url)
    monkeypatch.setenv("DET_DEBUG_CONFIG_PATH", str(home))
    monkeypatch.chdir(home)
    TokenStore(cluster.url, home).save("admin", login(cluster.url, "admin", ""))

    def run(*words: str, stdin: str = "", check: bool = True) -> Done:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        try:
            status = main(list(words))
        except SystemExit as e:
            status = int(e.code or 0)
        captured = capsys.readouterr()
        assert status == 0 or not check, captured.err
        return Done(status, captured.out, captured.err)

    yield run


def _headers(text: str) -> list[str]:
    return [h.strip() for h in text.splitlines()[0].split("|")]


LISTINGS = [
    (["experiment", "list"], "ID,Owner,Name,Parent ID,State,Progress,Started,Ended,Resource Pool"),
    (["e", "ls", "-a"], "ID,Owner,Name,Parent ID,State,Progress,Started,Ended,Resource Pool,Archived"),
    (["e", "list-trials", "{e}"], "Trial ID,State,H-Params,Started,Ended,# of Batches,Metric,Best,Last"),
    (["e", "lc", "{e}"], "Trial ID,# of Batches,State,Validation Metric,UUID,Resources,Size"),
    (["agent"], "Agent ID,Version,Registered Time,Slots,Containers,Resource Pool,Enabled,Draining,Addresses"),
    (["slot"], "Agent ID,Resource Pool,Slot ID,Enabled,Draining,Allocation ID,Task Name,Type,Device"),
    (["task"], "Task ID,Allocation ID,Name,Slots Needed,Registered Time,Agent,Priority,Resource Pool,Ports"),
    (["job"], "#,ID,Type,Job Name,Priority,Submitted,Slots (acquired/needed),State,User,Waits for"),
    (["user"], "Username,Display Name,Admin,Active,Remote,Agent User,Last Seen"),
    (["workspace"], "ID,Name,# Projects,Agent User,Default Compute Pool,Default Aux Pool,Archived"),
    (["project", "list", "Uncategorized"], "ID,Name,Description,# Experiments,# Active Experiments,Archived"),
    (["model"], "ID,Name,Workspace ID,Creation Time,Last Updated Time,Metadata,# Versions,Archived"),
    (["resource-pool"], "Name,Description,Agents,Slots,Used,Scheduler,Default for"),
    (["token"], "ID,User ID,Description,Created At,Expires At,Revoked"),
    (["w", "list-projects", "Uncategorized"], "ID,Name,Description,# Experiments,# Active Experiments,Archived"),
    (["w", "list-pools", "Uncategorized"], "Resource Pool"),
]


@pytest.mark.parametrize(("words", "headers"), LISTINGS, ids=[" ".join(w) for w, _ in LISTINGS])
def test_a_listing_has_one_set_of_headers_and_four_forms(
    words: list[str], headers: str, det: Det, submitted: tuple[int, int]
) -> None:
    words = [w.format(e=submitted[0]) for w in words]
    expected = headers.split(",")
    assert _headers(det(*words).out) == expected
    assert next(csv.reader(io.StringIO(det(*words, "--csv").out))) == expected
    as_json = json.loads(det(*words, "--json").out)
    assert isinstance(as_json, list | dict)
    assert yaml.safe_load(det(*words, "--yaml").out) == as_json


def test_listing_shows_own_experiments_and_all_with_a_flag(det: Det, submitted: tuple[int, int]) -> None:
    assert " first " in det("e").out
    assert " first " not in det("-u", "admin", "e", "ls").out
    assert " first " in det("-u", "admin", "e", "ls", "-a").out
    assert _headers(det("e", "ls", "--show_project").out)[:2] == ["Workspace", "Project"]
    assert det("e", "ls", "--limit", "1", "--pages", "1", "--json").out.count('"id"') >= 1


def test_describe_prints_three_tables_or_writes_three_files(det: Det, submitted: tuple[int, int], home: Path) -> None:
    experiment, trial = submitted
    out = det("e", "describe", str(experiment), "--metrics").out
    assert [line for line in out.splitlines() if line in {"Experiment", "Trials", "Workloads"}] == [
        "Experiment",
        "Trials",
        "Workloads",
    ]
    assert '{"x": 2.0, "y": -2.0}' in out
    answer = json.loads(det("e", "describe", str(experiment), "--json").out)
    assert answer[0]["experiment"]["id"] == experiment
    det("e", "describe", str(experiment), "--outdir", "out")
    assert sorted(p.name for p in (home / "out").iterdir()) == ["experiments.csv", "trials.csv", "workloads.csv"]
    with (home / "out" / "trials.csv").open() as file:
        assert [row["Trial ID"] for row in csv.DictReader(file)] == [str(trial)]


def test_trial_describe_shows_metrics_and_their_summary(det: Det, submitted: tuple[int, int]) -> None:
    out = det("t", "describe", str(submitted[1]), "--metrics", "--metrics-summary").out
    assert '"validation_metrics"' in out
    assert '{"x": 2.0, "y": -2.0}' in out
    assert json.loads(det("t", "describe", str(submitted[1]), "--json").out)["trial"]["id"] == submitted[1]


def test_the_searchers_metric_is_in_every_table_of_trials(det: Det, submitted: tuple[int, int]) -> None:
    experiment, trial = (str(number) for number in submitted)
    listed = list(csv.DictReader(io.StringIO(det("e", "list-trials", experiment, "--csv").out)))
    assert [(row["Metric"], row["Best"], row["Last"]) for row in listed] == [("x", "1.0", "2.0")]
    described = det("t", "describe", trial).out
    head, work = described.split("Workloads")
    assert "Metric" in head and "2.0" in head
    assert '{"x": 2' in work and "N/A" not in work and "y" not in work
    whole = det("e", "describe", experiment).out
    assert whole.count(" x ") == 2  # the experiment and its trial


def test_logs_head_tail_search_and_json(det: Det, submitted: tuple[int, int]) -> None:
    trial = str(submitted[1])
    whole = det("t", "logs", trial).out.splitlines()
    assert det("t", "logs", trial, "--head", "2").out.splitlines() == whole[:2]
    assert det("e", "logs", str(submitted[0]), "--tail", "2").out.splitlines() == whole[-2:]
    found = det("t", "logs", trial, "--search", "trai.ed", "--regex", "--json").out.splitlines()
    assert [json.loads(line)["message"].rstrip().split()[-1] for line in found] == ["trained"]
    assert "Trial log stream ended" in det("t", "logs", trial, "-f", "--level", "UNSPECIFIED").out


def test_checkpoints_are_described_downloaded_and_sorted(det: Det, submitted: tuple[int, int], home: Path) -> None:
    experiment, trial = str(submitted[0]), str(submitted[1])
    listed = json.loads(det("e", "lc", experiment, "--best", "1", "--json").out)
    best = listed[0]["uuid"]
    assert listed[0]["metadata"]["steps_completed"] == 1, "the searcher wants a small x"
    assert best in det("c", "describe", best).out
    det("e", "download", experiment, "-q")
    assert (home / "checkpoints" / best / "weights.bin").stat().st_size == 100
    det("e", "download", experiment, "--sort-by", "y", "--smaller-is-better", "true", "-o", "by-y")
    (chosen,) = (home / "by-y").iterdir()
    assert (chosen / "weights.bin").stat().st_size == 200
    det("t", "download", trial, "--latest", "-o", "latest")
    assert (home / "latest" / "weights.bin").stat().st_size == 200
    det("t", "download", trial, "--best", "-o", "best")
    assert (home / "best" / "weights.bin").stat().st_size == 100
    assert det("t", "download", trial, "--uuid", best, "-q", "-o", "chosen").out == "chosen\n"
    det("c", "download", best, "--mode", "master", "-o", "through")
    assert (home / "through" / "weights.bin").read_bytes() == b"w" * 100
    assert det("t", "download", trial, "--latest", "--sort-by", "y", check=False).status == 2


def test_attributes_of_an_experiment_are_set_one_at_a_time(
    det: Det, submitted: tuple[int, int], client: Client
) -> None:
    experiment = str(submitted[0])
    det("e", "set", "name", experiment, "renamed")
    det("e", "set", "description", experiment, "about")
    det("e", "set", "log-retention", experiment, "--days", "3")
    det("e", "set", "gc-policy", experiment, "--save-experiment-best", "2", "--save-trial-best", "2",
        "--save-trial-latest", "2", "--yes")  # fmt: skip
    det("e", "label", "add", experiment, "new")
    det("e", "label", "remove", experiment, "a")
    found = client.get(f"/api/v1/experiments/{experiment}")["experiment"]
    assert (found["name"], found["description"], found["labels"]) == ("renamed", "about", ["new"])
    assert det("e", "label", "remove", experiment, "none", check=False).status == 1
    det("e", "archive", experiment)
    assert client.get(f"/api/v1/experiments/{experiment}")["experiment"]["archived"] is True
    det("e", "unarchive", experiment)
    det("e", "set", "name", experiment, "first")


def test_scheduling_attributes_are_set_while_it_is_alive(det: Det, cluster: Cluster, tmp_path: Path) -> None:
    config = write_experiment(tmp_path / "m", SCRIPT, {"name": "paused", "resources": {"agent_label": "fast"}})
    created = det("e", "create", str(config), str(config.parent), "--paused")
    assert "resources.agent_label: accepted, but has no effect" in created.err, "what the master remarked"
    experiment = created.out.split("Created experiment ")[1].split()[0]
    det("e", "set", "priority", experiment, "30")
    det("e", "set", "weight", experiment, "2.5")
    det("e", "set", "max-slots", experiment, "1")
    det("e", "set", "max-slots", experiment, "none")
    found = yaml.safe_load(det("e", "config", experiment).out)["resources"]
    assert (found["priority"], found["weight"], found["max_slots"]) == (30, 2.5, None)
    det("e", "kill", experiment)
    waited = det("e", "wait", experiment, "--polling-interval", "0.1", check=False)
    assert (waited.status, "CANCELED" in waited.out) == (1, True)
    refused = det("e", "delete", experiment, check=False)
    assert (refused.status, "--yes" in refused.err) == (1, True)
    det("e", "delete", experiment, "--yes")
    eventually(lambda: det("e", "describe", experiment, check=False).status == 1)


def test_the_model_definition_comes_back_as_an_archive(det: Det, submitted: tuple[int, int], home: Path) -> None:
    det("e", "download-model-def", str(submitted[0]), "--output-dir", "code")
    with tarfile.open(home / "code" / f"experiment_{submitted[0]}_model_def.tgz") as archive:
        assert "train.py" in archive.getnames()


def test_a_support_bundle_holds_the_log(det: Det, submitted: tuple[int, int], home: Path) -> None:
    trial = submitted[1]
    det("t", "support-bundle", str(trial))
    with tarfile.open(home / f"det-bundle-trial-{trial}.tar.gz") as archive:
        log = archive.extractfile(f"trial_{trial}/trial_logs.txt")
        assert log is not None
        assert b"trained" in log.read()


def test_workspaces_and_projects_live_and_die(det: Det, submitted: tuple[int, int]) -> None:
    link = ("--agent-uid", "1", "--agent-user", "u", "--agent-gid", "1", "--agent-group", "g")
    denied = det("w", "create", "lab", *link, check=False)
    assert (denied.status, "agentUserGroup" in denied.err) == (1, True)
    det("w", "create", "lab")
    det("-u", "admin", "w", "edit", "lab", *link)
    det("p", "create", "lab", "vision", "--description", "images", "--key", "VIS")
    assert "images" in det("p", "describe", "lab", "vision").out
    det("p", "edit", "lab", "vision", "--new_name", "seeing")
    det("e", "move", str(submitted[0]), "lab", "seeing")
    assert " first " in det("p", "list-experiments", "lab", "seeing").out
    det("e", "move", str(submitted[0]), "Uncategorized", "Uncategorized")
    det("p", "archive", "lab", "seeing")
    det("p", "unarchive", "lab", "seeing")
    assert det("p", "delete", "lab", "seeing", check=False).status == 1
    det("p", "delete", "lab", "seeing", "--yes")
    det("w", "edit", "lab", "--name", "workshop")
    det("w", "archive", "workshop")
    det("w", "unarchive", "workshop")
    assert "workshop" in det("w", "describe", "workshop").out
    eventually(lambda: det("w", "delete", "workshop", "--yes", check=False).status == 0)
    assert det("w", "create", "k", "--namespace", "n", check=False).status == 2


def test_users_are_made_changed_and_logged_in_and_out(det: Det) -> None:
    assert det("user", "create", "eve", "--password", "Passw0rdX", check=False).status == 1, "only an admin may"
    det("-u", "admin", "user", "create", "eve", "--password", "Passw0rdX")
    weak = det("-u", "admin", "user", "create", "bob", "--password", "weak", check=False)
    assert (weak.status, "✗" in weak.err) == (1, True)
    assert det("user", "login", "eve", stdin="Passw0rdX\n").out.startswith("Logged in as eve")
    assert det("user", "whoami").out == "You are logged in as user 'eve'\n"
    det("user", "change-password", stdin="Chang3dPass\n")
    assert det("user", "whoami").out.endswith("'eve'\n")
    wrong = det("user", "login", "eve", stdin="Passw0rdX\n", check=False)
    assert (wrong.status, wrong.out) == (1, "")
    det("-u", "admin", "user", "edit", "eve", "--display-name", "Eve E", "--admin", "true")
    det("-u", "admin", "user", "rename", "eve", "eva")
    det("-u", "admin", "user", "link-with-agent-user", "eva", "--agent-uid", "5", "--agent-user", "x",
        "--agent-gid", "6", "--agent-group", "y")  # fmt: skip
    assert "x(5):y(6)" in det("-u", "admin", "user", "list").out
    det("-u", "admin", "user", "deactivate", "eva")
    assert "eva" not in det("-u", "admin", "user", "list").out
    assert "eva" in det("-u", "admin", "user", "list", "-a").out
    det("-u", "admin", "user", "activate", "eva")
    det("user", "logout", "--all")
    assert det("user", "whoami").out == "You are logged in as user 'determined'\n"


def test_access_tokens_are_made_used_and_revoked(det: Det, cluster: Cluster) -> None:
    made = json.loads(det("token", "create", "-d", "script", "-e", "2", "--json").out)
    number = str(made["tokenId"])
    det("token", "login", made["token"])
    assert det("user", "whoami").out.endswith("'determined'\n")
    det("token", "edit", number, "-d", "other")
    assert "other" in det("token", "describe", number).out
    det("token", "revoke", number)
    assert det("token", "list", check=False).status == 1, "what it logged in with is void"
    kept = json.loads(det("-u", "admin", "token", "list", "determined", "--json").out)
    assert int(number) not in [t["id"] for t in kept]
    assert det("-u", "admin", "token", "describe", "999999", check=False).status == 1


def test_the_master_tells_about_itself(det: Det, cluster: Cluster) -> None:
    assert yaml.safe_load(det("master", "info").out)["clusterName"] == ""
    assert json.loads(det("-u", "admin", "master", "config", "--json").out)["data_dir"] == str(cluster.directory)
    denied = det("master", "config", check=False)
    assert (denied.status, "det -u admin" in denied.err) == (1, True)
    assert "[info]:" in det("-u", "admin", "master", "logs", "--tail", "3").out
    assert det("master", "logs", "--tail", "3", check=False).status == 1
    det("-u", "admin", "master", "config", "set", "--log.level", "DEBUG")
    det("-u", "admin", "master", "config", "set", "--log.level", "INFO")
    det("-u", "admin", "master", "cluster-message", "set", "-m", "hello", "-d", "1h")
    assert "hello" in det("master", "cluster-message", "get").out
    det("-u", "admin", "master", "cluster-message", "clear")
    versions = yaml.safe_load(det("version").out)
    assert versions["master_address"] == cluster.url
    assert versions["client"]["version"]


def test_agents_and_slots_are_disabled_and_enabled(det: Det) -> None:
    agent = json.loads(det("agent", "--json").out)[0]["id"]
    det("-u", "admin", "slot", "disable", agent, "0")
    assert [r["Enabled"] for r in json.loads(det("slot", "--json").out)] == [False, True]
    det("-u", "admin", "slot", "enable", agent, "0")
    disabled = json.loads(det("-u", "admin", "agent", "disable", agent, "--drain", "--json").out)
    assert disabled[0]["draining"] is True
    det("-u", "admin", "agent", "enable", "--all")
    assert det("agent", "enable", check=False).status == 2
    assert det("slot", "disable", agent, "0", check=False).status == 1


def test_drained_agent_lets_what_runs_end_and_takes_new_work_only_when_enabled_again(
    det: Det, client: Client, tmp_path: Path
) -> None:
    agent, go = json.loads(det("agent", "--json").out)[0]["id"], tmp_path / "go"
    wait = f"import pathlib, time\nwhile not pathlib.Path({str(go)!r}).exists():\n    time.sleep(0.02)\n"
    running = client.submit(write_experiment(tmp_path / "running", wait))
    client.wait_state(running, "RUNNING")
    det("-u", "admin", "agent", "disable", agent, "--drain")
    queued = client.submit(write_experiment(tmp_path / "queued", "print('at last')\n"))
    try:
        go.touch()
        client.wait_state(running, "COMPLETED")
        assert client.trials(running)[0]["restarts"] == 0
        assert client.state(queued) == "QUEUED", "one slot was free all the time, the other is now"
    finally:
        det("-u", "admin", "agent", "enable", agent)
    client.wait_state(queued, "COMPLETED")


def test_the_queue_is_listed_and_changed(det: Det, tmp_path: Path) -> None:
    waiting = "import time\ntime.sleep(600)\n"
    config = write_experiment(tmp_path / "m", waiting, {"name": "queued", "resources": {"slots_per_trial": 2}})
    ids = []
    for _ in range(2):
        out = det("e", "create", str(config), str(config.parent)).out
        ids.append(out.split("Created experiment ")[1].split()[0])
    rows = eventually(lambda: len(r := list(csv.DictReader(io.StringIO(det("job", "--csv").out)))) == 2 and r)
    assert {r["State"] for r in rows} <= {"QUEUED", "SCHEDULED", "STATE_QUEUED"}
    last = rows[-1]["ID"]
    det("job", "update", last, "--priority", "10")
    det("job", "update-batch", f"{last}.priority=11")
    assert "11" in [r["Priority"] for r in csv.DictReader(io.StringIO(det("job", "--csv").out))]
    assert det("job", "update-batch", "nonsense", check=False).status == 2
    task = eventually(lambda: list(json.loads(det("task", "--json").out).values()))[0]["task_id"]
    eventually(lambda: det("task", "logs", task).out, explain=lambda: "what runs has said nothing")
    for number in ids:
        det("e", "kill", number)
    for number in ids:
        det("e", "wait", number, "--polling-interval", "0.1", check=False)


def test_pools_are_bound_to_workspaces_and_freed(det: Det) -> None:
    det("w", "create", "bound")
    refused = det("rp", "bindings", "add", "default", "bound", check=False)
    assert refused.status == 1, "an ordinary user may not"
    answer = det("-u", "admin", "rp", "bindings", "add", "default", "bound", check=False)
    assert answer.status == 0 or "default" in answer.err, "the default pool may refuse bindings, but says so"


def test_curl_carries_the_token_and_shows_no_token(det: Det) -> None:
    token = det("dev", "auth-token").out.strip()
    done = det("dev", "curl", "-x", "/api/v1/me")
    assert json.loads(done.out)["user"]["username"] == "determined"
    assert token not in done.err
    assert det("dev", "curl", "/api/v1/me", "--fail", "-X", "PATCH", check=False).status != 0


def test_resources_sum_up_what_was_used(det: Det, submitted: tuple[int, int]) -> None:
    listed = det("resources", "raw", "2020-01-01T00:00:00Z", "2100-01-01T00:00:00Z").out
    assert len(listed.splitlines()) >= 2, "a header and the allocation of the finished trial"
    summed = det("res", "agg", "2026-01-01", "2026-01-02", "--json")
    assert "resourceEntries" in json.loads(summed.out)
