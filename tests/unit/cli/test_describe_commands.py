"""What `describe` prints of experiments, trials and checkpoints, and what it writes into files."""

import csv
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from recorded_master import SHOWN_TIME, TIME, Det, checkpoint, experiment, log, page, project, stream, trial, workspace
from small_master import SmallMaster

METRICS = {"loss": 0.5, "accuracy": 0.9, "f1": 0.3, "recall": 0.1}


def _load(kind: str, batches: int, metrics: dict[str, Any]) -> dict[str, Any]:
    return {kind: {"metrics": {"avgMetrics": metrics}, "numInputs": 1, "totalBatches": batches}}


WORK = [
    _load("training", 1, {"loss": 0.7}),
    _load("validation", 2, METRICS),
    {"checkpoint": {"state": "STATE_COMPLETED", "totalBatches": 2, "uuid": "u-1"}},
]


@pytest.fixture(autouse=True)
def _answers(master: SmallMaster) -> None:
    validation = _load("validation", 2, {"loss": 1})["validation"]
    described = trial(8, latestValidation=validation, bestValidation=validation, summaryMetrics={"loss": {"min": 1}})
    one = experiment(labels=["b", "a"], description="two\nlines")
    master.answers["GET", "/api/v1/experiments/1"] = (200, {"experiment": one})
    master.answers["GET", "/api/v1/experiments/1/trials"] = page("trials", described)
    master.answers["GET", "/api/v1/trials/8"] = (200, {"trial": described})
    master.answers["GET", "/api/v1/trials/8/workloads"] = page("workloads", *WORK)


def _tables(text: str) -> list[list[dict[str, str]]]:
    """Tables of a text, each a list of rows by header."""
    tables: list[list[dict[str, str]]] = []
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if set(line) <= set("-+") and line:
            headers = [h.strip() for h in lines[at - 1].split(" | ")]
            rows = []
            for row in lines[at + 1 :]:
                if " | " not in row:
                    break
                rows.append(dict(zip(headers, (c.strip() for c in f"{row} ".split(" | ")), strict=True)))
            tables.append(rows)
    return tables


def test_experiment_has_a_row_its_trials_and_their_workloads(det: Det) -> None:
    [one], [its_trial], work = _tables(det("e", "describe", "1").out)
    assert (one["State"], one["Labels"], one["Description"]) == ("COMPLETED", "a, b", "two\\nlines")
    assert (one["Metric"], one["Best"], one["Progress"]) == ("loss", "N/A", "N/A")
    assert (its_trial["Trial ID"], its_trial["H-Params"], its_trial["Started"]) == ("8", '{"lr": 0.1}', SHOWN_TIME)
    assert (its_trial["Best"], its_trial["Last"]) == ("1.0", "1.0"), "JSON writes 1.0 as 1"
    assert [(row["# of Batches"], row["Checkpoint"]) for row in work] == [("1", "N/A"), ("2", "N/A"), ("2", "u-1")]


def test_reason_of_a_failure_stands_below_the_experiment_and_not_in_csv(det: Det, master: SmallMaster) -> None:
    failed = experiment(state="STATE_ERROR", error="the search has no points")
    master.answers["GET", "/api/v1/experiments/1"] = (200, {"experiment": failed})
    master.answers["GET", "/api/v1/experiments/1/trials"] = page("trials")
    assert "\nExperiment 1 failed\n  what:   the search has no points\n" in det("e", "describe", "1").out
    assert "failed" not in det("e", "describe", "1", "--csv").out


def test_metrics_of_workloads_are_shown_on_request(det: Det) -> None:
    *_, work = _tables(det("e", "describe", "1", "--metrics").out)
    assert [row["Training Metrics"] for row in work] == ['{"loss": 0.7}', "N/A", "N/A"]
    assert json.loads(work[1]["Validation Metrics"]) == METRICS


def test_directory_gets_a_csv_file_for_each_table(det: Det, surroundings: Path) -> None:
    done = det("e", "describe", "1", "--outdir", "a/b", "--metrics")
    assert done.out == ""
    read = {p.name: list(csv.DictReader(p.open(newline=""))) for p in (surroundings / "a" / "b").iterdir()}
    assert set(read) == {"experiments.csv", "trials.csv", "workloads.csv"}
    assert read["experiments.csv"][0]["Description"] == "two\nlines", "a file is no terminal"
    assert [row["Checkpoint"] for row in read["workloads.csv"]] == ["N/A", "N/A", "u-1"]


def test_json_of_experiments_is_a_list_also_of_one(det: Det) -> None:
    assert [e["experiment"]["id"] for e in json.loads(det("e", "describe", "1,1", "--json").out)] == [1, 1]


def test_config_is_yaml_or_json(det: Det) -> None:
    assert det("e", "config", "1").out.startswith("searcher:\n  metric: loss\n")
    assert json.loads(det("e", "config", "1", "--json").out)["searcher"]["metric"] == "loss"


def test_workloads_of_a_trial_show_the_metric_of_the_searcher_alone(det: Det) -> None:
    [one], work = _tables(det("t", "describe", "8").out)
    assert (one["Experiment ID"], one["Restarts"], one["Metric"]) == ("1", "0", "loss")
    assert [row["Kind"] for row in work] == ["training", "validation", "checkpoint"]
    assert [row["Metrics"] for row in work] == ['{"loss": 0.7}', '{"loss": 0.5}', ""]


def test_workloads_without_that_metric_show_the_first_three_by_name(det: Det, master: SmallMaster) -> None:
    config = {"searcher": {"metric": ["perplexity", "loss"]}}
    master.answers["GET", "/api/v1/experiments/1"] = (200, {"experiment": experiment(config=config)})
    [one], work = _tables(det("t", "describe", "8").out)
    assert one["Metric"] == "perplexity"
    assert list(json.loads(work[1]["Metrics"])) == ["accuracy", "f1", "loss"]


def test_csv_of_a_trial_has_rows_alone(det: Det) -> None:
    out = det("t", "describe", "8", "--csv").out
    rows = list(csv.reader(io.StringIO(out)))
    assert [len(row) for row in rows] == [12, 12, 4, 4, 4, 4]
    assert "Workloads" not in out


def test_summary_of_metrics_is_shown_on_request(det: Det) -> None:
    assert '"min": 1' not in det("t", "describe", "8").out
    assert '"min": 1' in det("t", "describe", "8", "--metrics-summary").out


def test_checkpoint_is_a_table_of_fields_or_json(det: Det, master: SmallMaster) -> None:
    one = checkpoint("u-1", 7, metric=0.25, resources={"a": "1"})
    master.answers["GET", "/api/v1/checkpoints/u-1"] = (200, {"checkpoint": one})
    [rows] = _tables(det("c", "describe", "u-1").out)
    fields = {row["Field"]: row["Value"] for row in rows}
    assert (fields["# of Batches"], fields["Validation Metric"], fields["Reported"]) == ("7", "0.25", SHOWN_TIME)
    assert (fields["Trial ID"], fields["State"], fields["Resources"]) == ("1", "COMPLETED", '{"a": "1"}')
    assert json.loads(det("c", "describe", "u-1", "--json").out)["reportTime"] == TIME


def test_project_is_shown_with_its_experiments_and_alone_in_json(det: Det, master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/workspaces"] = page("workspaces", workspace(7, "lab"))
    master.answers["GET", "/api/v1/workspaces/7/projects"] = page("projects", project(3, "vision"))
    master.answers["GET", "/api/v1/experiments"] = page("experiments", experiment(5))
    [one], [listed] = _tables(det("p", "describe", "lab", "vision").out)
    assert (one["Name"], listed["ID"]) == ("vision", "5")
    assert json.loads(det("p", "describe", "lab", "vision", "--json").out)["name"] == "vision"


def test_name_must_fit_exactly(det: Det, master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/workspaces"] = page("workspaces", workspace(7, "Lab"))
    done = det("w", "describe", "lab")
    assert (done.status, "workspace 'lab' does not exist; list them with: det workspace list" in done.err) == (1, True)


def test_label_is_added_once_and_a_missing_one_is_not_removed(det: Det, master: SmallMaster) -> None:
    master.answers["PATCH", "/api/v1/experiments/1"] = (200, {})
    for words in (["add", "1", "c"], ["add", "1", "a"], ["remove", "1", "b"]):
        assert det("e", "label", *words).status == 0
    sent = [json.loads(body)["labels"] for method, _, _, body in master.asked if method == "PATCH"]
    assert sent == [["a", "b", "c"], ["a", "b"], ["a"]]
    done = det("e", "label", "remove", "1", "z")
    assert (done.status, "experiment 1 has no label 'z'; it has: ['a', 'b']" in done.err) == (1, True)


def test_support_bundle_holds_trial_experiment_workloads_and_log(
    det: Det, master: SmallMaster, surroundings: Path
) -> None:
    master.answers["GET", "/api/v1/trials/8/logs"] = stream(log("one\n"), log("größe\n"))
    assert det("t", "support-bundle", "8", "-o", "made").out == "Wrote made/det-bundle-trial-8.tar.gz\n"
    with tarfile.open(surroundings / "made" / "det-bundle-trial-8.tar.gz") as archive:
        files = {m.name: archive.extractfile(m).read() for m in archive.getmembers()}  # type: ignore[union-attr]
    names = ["experiment.json", "trial.json", "trial_logs.txt", "workloads.json"]
    assert sorted(files) == [f"trial_8/{name}" for name in names]
    assert files["trial_8/trial_logs.txt"].decode() == "one\ngröße\n"
    assert len(json.loads(files["trial_8/workloads.json"])) == 3


@pytest.mark.parametrize(
    ("locks", "flags", "out", "said"),
    [
        ([], [], "", "they are there once a trial with environment.python has begun"),
        (["linux-py3.11"], [], "numpy==1\n", ""),
        (["linux-py3.11", "mac-py3.11"], [], "# linux-py3.11\nnumpy==1\n# mac-py3.11\nnumpy==1\n", ""),
        (["linux-py3.11", "mac-py3.11"], ["--platform", "mac-py3.11"], "numpy==1\n", ""),
        (["linux-py3.11"], ["--platform", "bsd"], "", "no resolved packages for bsd; it has: linux-py3.11"),
    ],
)
def test_resolved_packages_are_printed_by_platform(
    det: Det, master: SmallMaster, locks: list[str], flags: list[str], out: str, said: str
) -> None:
    found = [{"platform": name, "content": "numpy==1\n", "createdAt": TIME} for name in locks]
    master.answers["GET", "/api/v1/experiments/1/environment_locks"] = (200, {"locks": found})
    done = det("e", "lock", "1", *flags)
    assert (done.out, done.status) == (out, 1 if said else 0)
    assert said in done.err


def test_trial_that_the_search_ended_says_why_below_its_row(det: Det, master: SmallMaster) -> None:
    ended = trial(8, stopReason="stopped: 0.8% chance to reach the best 10%")
    master.answers["GET", "/api/v1/trials/8"] = (200, {"trial": ended})
    assert "\nStopped: 0.8% chance to reach the best 10%.\n" in det("t", "describe", "8").out
    assert "chance" not in det("t", "describe", "8", "--csv").out
