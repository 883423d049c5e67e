"""Ray Tune's part of the kills, in the peers' Python: a cluster that stays, and drivers of one search that come and go.

recovery_tune_driver.py head FOLDER       until its input ends; the address is in FOLDER/address
recovery_tune_driver.py search FOLDER     begins the search, or goes on with it where it was begun
"""

import logging
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import ray
from ray import tune

from recovery_steps import CHECKPOINT, PAUSE, Diary

TRIALS = 8


def main(what: str, folder: Path) -> None:
    logging.disable(logging.WARNING)
    {"head": _head, "search": _search}[what](folder)


def _head(folder: Path) -> None:
    context = ray.init(
        num_cpus=TRIALS,
        include_dashboard=False,
        configure_logging=False,
        _node_ip_address="127.0.0.1",
        _temp_dir=str(folder / "ray"),
        object_store_memory=100 * 2**20,
    )
    (folder / "address.new").write_text(context.address_info["address"])
    (folder / "address.new").rename(folder / "address")
    sys.stdin.read()
    ray.shutdown()


def _search(folder: Path) -> None:
    ray.init(address=(folder / "address").read_text(), log_to_driver=False, configure_logging=False)
    results = folder / "results"
    trial = tune.with_resources(_trial, {"cpu": 1})
    space = {"rate": tune.uniform(0, 1), "diaries": str(folder / "diaries")}
    if tune.Tuner.can_restore(str(results / "search")):
        tuner = tune.Tuner.restore(str(results / "search"), trial, param_space=space)
    else:
        tuner = tune.Tuner(
            trial,
            param_space=space,
            tune_config=tune.TuneConfig(num_samples=TRIALS, max_concurrent_trials=TRIALS),
            run_config=tune.RunConfig(name="search", storage_path=str(results), verbose=0),
        )
    tuner.fit()
    ray.shutdown()


def _trial(config: dict[str, Any]) -> None:
    diary, step = Diary(Path(config["diaries"]), tune.get_context().get_trial_id()), _begin()
    while not diary.over():
        time.sleep(PAUSE)
        step += 1
        begin = time.perf_counter()
        if step % CHECKPOINT == 0:
            with tempfile.TemporaryDirectory() as made:
                (Path(made) / "step").write_text(str(step))
                tune.report({"x": step}, checkpoint=tune.Checkpoint.from_directory(made))
        else:
            tune.report({"x": step})
        diary.note(step, time.perf_counter() - begin)


def _begin() -> int:
    checkpoint = tune.get_checkpoint()
    if checkpoint is None:
        return 0
    with checkpoint.as_directory() as kept:
        return int((Path(kept) / "step").read_text())


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
