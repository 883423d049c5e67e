"""Checkpoints on their way to a directory: chosen, fetched once, completed after an interruption, never mixed."""

import io
import json
import random
import tarfile
from pathlib import Path
from typing import Any

import pytest
from recorded_master import Det, checkpoint, experiment, page, trial
from small_master import SmallMaster

FILES = {"metadata.json": b'{"steps_completed": 5}', "weights.bin": b"w" * 5000}
SIZES = {name: str(len(content)) for name, content in FILES.items()}
FROM_MASTER = ["c", "download", "u-5", "--mode", "master", "-o", "out"]


def _archive(files: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return target.getvalue()


def _record(master: SmallMaster, *found: dict[str, Any]) -> None:
    """Checkpoints of trial 1 of experiment 1, which the master hands out."""
    listed = page("checkpoints", *found)
    master.answers["GET", "/api/v1/experiments/1"] = (200, {"experiment": experiment()})
    master.answers["GET", "/api/v1/trials/1"] = (200, {"trial": trial()})
    master.answers["GET", "/api/v1/experiments/1/checkpoints"] = listed
    master.answers["GET", "/api/v1/trials/1/checkpoints"] = listed
    for one in found:
        master.answers["GET", f"/api/v1/checkpoints/{one['uuid']}"] = (200, {"checkpoint": one})
        steps = json.dumps(one["metadata"]).encode()
        files = {**FILES, "metadata.json": steps}
        master.answers["GET", f"/checkpoints/{one['uuid']}"] = (200, _archive(files))


def _one(**changes: Any) -> dict[str, Any]:
    return checkpoint("u-5", 5, **{"resources": SIZES, **changes})


def _fetched(master: SmallMaster) -> list[str]:
    return [path.rpartition("/")[2] for path in master.paths() if path.startswith("GET /checkpoints/")]


def test_files_come_through_the_master_and_the_directory_is_named(
    det: Det, master: SmallMaster, surroundings: Path
) -> None:
    _record(master, _one())
    assert det(*FROM_MASTER).out == "Downloaded checkpoint u-5 to out\n"
    assert {p.name: p.read_bytes() for p in (surroundings / "out").iterdir()} == FILES
    assert det("c", "download", "u-5", "--mode", "master", "-q").out == "checkpoints/u-5\n"


def test_what_is_there_is_not_fetched_again(det: Det, master: SmallMaster) -> None:
    _record(master, _one())
    assert [det(*FROM_MASTER).status for _ in range(3)] == [0, 0, 0]
    assert _fetched(master) == ["u-5"]


def test_metadata_that_was_written_anew_does_not_fetch_again(det: Det, master: SmallMaster, surroundings: Path) -> None:
    _record(master, _one())
    det(*FROM_MASTER)
    (surroundings / "out" / "metadata.json").write_text('{"steps_completed": 5, "note": "mine"}')
    assert det(*FROM_MASTER).status == 0
    assert _fetched(master) == ["u-5"]


@pytest.mark.parametrize("left", [b"", b"w" * 100, None])
def test_interrupted_download_is_completed_by_the_next(
    det: Det, master: SmallMaster, surroundings: Path, left: bytes | None
) -> None:
    _record(master, _one())
    target = surroundings / "out"
    target.mkdir()
    (target / "metadata.json").write_bytes(FILES["metadata.json"])
    if left is not None:
        (target / "weights.bin").write_bytes(left)
    assert det(*FROM_MASTER).status == 0
    assert (target / "weights.bin").read_bytes() == FILES["weights.bin"]


def test_answer_that_breaks_off_is_told_and_the_next_try_completes_it(
    det: Det, master: SmallMaster, surroundings: Path
) -> None:
    _record(master, _one())
    whole = master.answers["GET", "/checkpoints/u-5"]
    half = _archive({"metadata.json": b"{}", "weights.bin": random.Random(1).randbytes(5000)})[:2500]
    master.answers["GET", "/checkpoints/u-5"] = [(200, half), whole]
    broken = det(*FROM_MASTER)
    assert broken.status == 1
    assert "the master broke off sending checkpoint u-5" in broken.err and "try again" in broken.err
    assert "Traceback" not in broken.err
    assert det(*FROM_MASTER).status == 0
    assert (surroundings / "out" / "weights.bin").read_bytes() == FILES["weights.bin"]


def test_directory_with_another_checkpoint_is_refused_and_left_alone(
    det: Det, master: SmallMaster, surroundings: Path
) -> None:
    _record(master, _one(), checkpoint("u-6", 6, resources=SIZES))
    det(*FROM_MASTER)
    done = det("c", "download", "u-6", "--mode", "master", "-o", "out")
    assert (done.status, done.out) == (1, "")
    assert "out holds another checkpoint, of 5 batches; give another directory with -o, or remove it" in done.err
    assert (surroundings / "out" / "metadata.json").read_bytes() == FILES["metadata.json"]
    assert _fetched(master) == ["u-5"]


def test_directory_with_other_files_is_added_to(det: Det, master: SmallMaster, surroundings: Path) -> None:
    _record(master, _one())
    (surroundings / "out").mkdir()
    (surroundings / "out" / "notes.txt").write_text("mine")
    assert det(*FROM_MASTER).status == 0
    assert (surroundings / "out" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("state", ["ACTIVE", "ERROR", "DELETED"])
def test_checkpoint_that_is_not_whole_is_refused_by_its_state(det: Det, master: SmallMaster, state: str) -> None:
    _record(master, _one(state=f"STATE_{state}"))
    done = det(*FROM_MASTER)
    assert (done.status, _fetched(master)) == (1, [])
    assert f"checkpoint u-5 is {state}; only COMPLETED ones can be downloaded" in done.err


def test_member_that_would_leave_the_directory_is_refused(det: Det, master: SmallMaster, surroundings: Path) -> None:
    _record(master, _one())
    master.answers["GET", "/checkpoints/u-5"] = (200, _archive({"../escaped": b"x"}))
    assert det(*FROM_MASTER).status == 1
    assert not (surroundings / "escaped").exists()


def test_storage_that_is_not_here_leads_through_the_master(det: Det, master: SmallMaster, surroundings: Path) -> None:
    storage = {"checkpoint_storage": {"type": "shared_fs", "host_path": str(surroundings / "elsewhere")}}
    _record(master, _one(training={"experimentConfig": storage}))
    assert det("c", "download", "u-5", "-o", "out").status == 0
    assert _fetched(master) == ["u-5"]
    direct = det("c", "download", "u-5", "-o", "direct", "--mode", "direct")
    assert direct.status == 1
    assert not (surroundings / "direct" / "metadata.json").exists()


def test_both_ways_that_failed_are_told(det: Det, master: SmallMaster) -> None:
    _record(master, _one())
    del master.answers["GET", "/checkpoints/u-5"]
    said = det("c", "download", "u-5").err
    assert "direct: checkpoint u-5 does not say where it is stored" in said
    assert "through the master: no /checkpoints/u-5" in said


def test_best_of_an_experiment_comes_first_and_those_without_the_metric_last(det: Det, master: SmallMaster) -> None:
    found = [checkpoint(f"u-{n}", n, metric=metric) for n, metric in ((1, 0.5), (2, None), (3, 0.1), (4, 0.3))]
    _record(master, *found)
    for one, expected in (("1", ["u-3"]), ("3", ["u-3", "u-4", "u-1"]), ("9", ["u-3", "u-4", "u-1", "u-2"])):
        listed = json.loads(det("e", "list-checkpoints", "1", "--best", one, "--json").out)
        assert [c["uuid"] for c in listed] == expected


def test_large_values_are_best_where_the_searcher_says_so(det: Det, master: SmallMaster) -> None:
    _record(master, checkpoint("u-1", metric=0.5), checkpoint("u-2", metric=0.9))
    config = {"searcher": {"metric": "accuracy", "smaller_is_better": False}}
    master.answers["GET", "/api/v1/experiments/1"] = (200, {"experiment": experiment(config=config)})
    assert json.loads(det("e", "lc", "1", "--best", "1", "--json").out)[0]["uuid"] == "u-2"


def _with_metric(uuid: str, steps: int, **metrics: Any) -> dict[str, Any]:
    training = {"trialId": 1, "experimentId": 1, "searcherMetric": 0.5, "validationMetrics": {"avgMetrics": metrics}}
    return checkpoint(uuid, steps, resources={}, training=training)


@pytest.mark.parametrize(
    ("flags", "chosen"),
    [
        (["--best"], "u-1"),
        (["--latest"], "u-3"),
        (["--best", "--sort-by", "f1", "--smaller-is-better", "false"], "u-2"),
        (["--best", "--sort-by", "f1", "--smaller-is-better", "true"], "u-1"),
        (["--best", "--sort-by", "f1"], "u-1"),
        (["--uuid", "u-2"], "u-2"),
    ],
)
def test_checkpoint_of_a_trial_is_chosen_by_the_flags(
    det: Det, master: SmallMaster, flags: list[str], chosen: str
) -> None:
    _record(master, _with_metric("u-1", 1, f1=0.2), _with_metric("u-2", 2, f1=0.7), _with_metric("u-3", 3, f1="NaN"))
    done = det("t", "download", "1", *flags, "-q")
    assert (done.status, done.out) == (0, f"checkpoints/{chosen}\n")


def test_checkpoint_of_another_trial_is_refused(det: Det, master: SmallMaster) -> None:
    _record(master, checkpoint("u-9", training={"trialId": 2}))
    done = det("t", "download", "1", "--uuid", "u-9")
    assert (done.status, "checkpoint u-9 is not one of trial 1" in done.err) == (1, True)


def test_nothing_to_download_is_told(det: Det, master: SmallMaster) -> None:
    _record(master, checkpoint("u-1", state="STATE_DELETED"))
    assert "trial 1 has no checkpoint to download" in det("t", "download", "1", "--best").err
    done = det("e", "download", "1")
    assert (done.status, "experiment 1 has no checkpoint to download" in done.err) == (1, True)


def test_sense_of_a_metric_without_the_metric_is_refused(det: Det, master: SmallMaster) -> None:
    _record(master, checkpoint("u-1"))
    done = det("e", "download", "1", "--smaller-is-better", "true")
    assert (done.status, "--smaller-is-better goes with --sort-by only" in done.err) == (2, True)


def test_download_on_a_terminal_ends_with_the_bar_gone(
    det: Det, master: SmallMaster, surroundings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("determined.cli.render._WORTH_A_BAR", 1)
    _record(master, _one())
    done = det(*FROM_MASTER, watched=True)
    assert (done.status, done.out) == (0, "Downloaded checkpoint u-5 to out\n")
    assert "checkpoint u-5" in done.err
