"""det e create: what is sent to the master, and what is said before and after."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from recorded_master import Det, Done, experiment, page, trial
from small_master import SmallMaster

CONFIG = "name: mnist # as it is written\nentrypoint: python3 train.py\nsearcher: {name: single, metric: loss}\n"


@pytest.fixture
def model(surroundings: Path) -> Path:
    directory = surroundings / "model"
    directory.mkdir()
    (directory / "train.py").write_text("print(1)\n")
    (directory / "config.yaml").write_text(CONFIG)
    return directory


@pytest.fixture
def create(det: Det, master: SmallMaster, model: Path) -> Any:
    master.answers["POST", "/api/v1/experiments"] = (200, {"experiment": experiment(4), "config": {}})

    def run(*words: str) -> Done:
        return det("e", "create", "model/config.yaml", "model", *words)

    return run


def _sent(master: SmallMaster) -> list[dict[str, Any]]:
    return [json.loads(b) for m, p, _, b in master.asked if (m, p) == ("POST", "/api/v1/experiments")]


def test_config_is_sent_as_it_is_written_and_files_beside_it(create: Any, master: SmallMaster) -> None:
    done = create()
    assert done.out == f"Preparing files to send to master... {len(CONFIG) + 9}B and 2 files\nCreated experiment 4\n"
    assert done.err == f"  {master.url}/det/experiments/4\n"
    [sent] = _sent(master)
    assert (sent["config"], sent["activate"], sent["validateOnly"]) == (CONFIG, True, False)
    files = {f["path"]: base64.b64decode(f["content"]) for f in sent["modelDefinition"]}
    assert files == {"train.py": b"print(1)\n", "config.yaml": CONFIG.encode()}


def test_flags_change_what_is_sent(create: Any, master: SmallMaster) -> None:
    create("--paused", "--project-id", "7", "--template", "t", "--config", "name=a", "--config", "resources.priority=3")
    [sent] = _sent(master)
    assert (sent["activate"], sent["projectId"], sent["template"]) == (False, 7, "t")
    config = yaml.safe_load(sent["config"])
    assert (config["name"], config["resources"], config["entrypoint"]) == ("a", {"priority": 3}, "python3 train.py")


def test_one_file_is_not_called_files(create: Any, model: Path) -> None:
    (model / "train.py").unlink()
    assert create().out.splitlines()[0].endswith("B and 1 file")


def test_without_a_directory_nothing_is_prepared(det: Det, master: SmallMaster, create: Any) -> None:
    done = det("e", "create", "model/config.yaml")
    assert done.out == "Created experiment 4\n" and "No files were sent with it" in done.err
    assert _sent(master)[0]["modelDefinition"] == []


def test_ports_are_published_only_while_the_first_trial_is_followed(create: Any, master: SmallMaster) -> None:
    done = create("-p", "8888")
    assert (done.status, "-f" in done.err) == (2, True)
    assert _sent(master) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"name: [1,\n", "invalid experiment config file 'model/config.yaml'"),
        (b"name: \xff\xfe\n", "it is not UTF-8 text"),
        (b"- a\n- list\n", "invalid experiment config file 'model/config.yaml'"),
    ],
)
def test_file_that_is_no_config_is_named_and_nothing_is_sent(
    create: Any, master: SmallMaster, model: Path, content: bytes, said: str
) -> None:
    (model / "config.yaml").write_bytes(content)
    done = create()
    assert (done.status, said in done.err) == (1, True)
    assert master.asked == [], "the master is not even looked for"


@pytest.mark.parametrize("override", ["name", "=x", ""])
def test_override_that_fits_nowhere_is_refused(create: Any, master: SmallMaster, override: str) -> None:
    done = create("--config", override)
    assert done.status == 1 and "Traceback" not in done.err
    assert _sent(master) == []


def test_fork_sends_the_original_config_with_changes_merged_over_it(det: Det, master: SmallMaster) -> None:
    source = experiment(1, originalConfig=CONFIG, projectId=9)
    master.answers["GET", "/api/v1/experiments/1"] = (200, {"experiment": source})
    master.answers["POST", "/api/v1/experiments"] = (200, {"experiment": experiment(4), "config": {}})
    det("e", "fork", "1")
    det("e", "fork", "1", "--config", "searcher.metric=error", "--paused")
    plain, changed = _sent(master)
    assert (plain["config"], plain["parentId"], plain["projectId"]) == (CONFIG, 1, 9)
    assert yaml.safe_load(changed["config"])["searcher"] == {"name": "single", "metric": "error"}
    assert (plain["activate"], changed["activate"]) == (True, False)


def test_fork_of_a_run_outside_of_the_cluster_is_refused(det: Det, master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/experiments/4"] = (200, {"experiment": experiment(4, unmanaged=True)})
    done = det("e", "fork", "4")
    assert (done.status, _sent(master)) == (1, [])
    assert "experiment 4 was run outside of the cluster and has no code to fork" in done.err


def test_continue_sends_only_what_changes(det: Det, master: SmallMaster, surroundings: Path) -> None:
    master.answers["POST", "/api/v1/experiments/continue"] = (200, {"experiment": experiment(1)})
    (surroundings / "over.yaml").write_text("max_restarts: 2\n")
    det("e", "continue", "1")
    det("e", "continue", "1", "--config-file", "over.yaml", "--config", "name=again")
    bodies = [json.loads(b) for m, p, _, b in master.asked if p.endswith("/continue")]
    assert [yaml.safe_load(b["overrideConfig"]) for b in bodies] == [{}, {"max_restarts": 2, "name": "again"}]


def test_continue_says_what_the_master_remarks(det: Det, master: SmallMaster) -> None:
    answer = {"experiment": experiment(1), "messages": ["pbs: accepted, but has no effect"]}
    master.answers["POST", "/api/v1/experiments/continue"] = (200, answer)
    done = det("e", "continue", "1", "--config", "pbs.slots_per_node=2")
    assert done.err.splitlines() == ["Warning: pbs: accepted, but has no effect"]
    assert done.out.splitlines() == ["Continued experiment 1"]


def test_tried_experiment_says_how_far_it_came_and_is_archived(create: Any, master: SmallMaster) -> None:
    states = ["QUEUED", "RUNNING", "COMPLETED"]
    answers = [(200, {"experiment": experiment(4, state=f"STATE_{state}")}) for state in states]
    validated = {"metrics": {"avgMetrics": {"loss": 1.0}}, "numInputs": 1, "totalBatches": 1}
    master.answers["GET", "/api/v1/experiments/4"] = answers
    trained = page("trials", trial(latestValidation=validated))
    master.answers["GET", "/api/v1/experiments/4/trials"] = [page("trials"), trained]
    master.answers["GET", "/api/v1/trials/1/checkpoints"] = page("checkpoints")
    master.answers["POST", "/api/v1/experiments/4/archive"] = (200, {})
    done = create("--test")
    assert done.status == 0, done.err
    assert done.out.splitlines()[1:] == [
        "Validating config: ok",
        "Created test experiment 4",
        "  queued",
        "  training: ok",
        "  validation: ok",
        "  running",
        "  completed",
        "Model definition test succeeded! \U0001f389",
    ]
    assert [sent["validateOnly"] for sent in _sent(master)] == [True, False]
    assert master.paths().count("POST /api/v1/experiments/4/archive") == 1


def test_tried_experiment_that_fails_ends_with_1_and_its_log(create: Any, master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/experiments/4"] = (200, {"experiment": experiment(4, state="STATE_ERROR")})
    master.answers["GET", "/api/v1/experiments/4/trials"] = page("trials")
    master.answers["POST", "/api/v1/experiments/4/archive"] = (200, {})
    done = create("--test")
    assert done.status == 1
    assert "Test experiment ended in ERROR; see: det experiment logs 4" in done.err
    assert "Experiment 4 failed" in done.err
