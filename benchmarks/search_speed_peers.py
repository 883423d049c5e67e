"""Work of the peers, run by their own Python; prints one JSON object a line.

    PEERS_PYTHON benchmarks/search_speed_peers.py asktell --seconds 30
    PEERS_PYTHON benchmarks/search_speed_peers.py ray|ray-reuse|syne-tune|optuna-cold|optuna-loop --trials 60

`asktell` calls their schedulers and samplers in one process. The others run no-op trials: a trial reports one value.
"""

import argparse
import json
import logging
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

RUNGS = [1, 4, 16, 64, 256]  # as in search_speed_pure.py
KNOWN = 100_000
_LAST = 1_000  # events that count
_SYNE_TUNE_SLEEP = 0.02  # its tuner looks at the workers that often; 5 s unless told

COLD_TRIAL = """
import sys
import optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(sys.argv[1]))
study = optuna.load_study(study_name="noop", storage=storage, sampler=optuna.samplers.RandomSampler())
study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=int(sys.argv[2]))
"""
SYNE_TUNE_TRIAL = """
import argparse
from syne_tune import Reporter
parser = argparse.ArgumentParser()
parser.add_argument("--x", type=float)
options, _ = parser.parse_known_args()
Reporter()(loss=options.x)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["asktell", *RUNS])
    parser.add_argument("--seconds", type=float, default=30.0, help="for each library, whatever size it has reached")
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--workers", type=int, default=4)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    if options.what == "asktell":
        for name, events in ASKTELL.items():
            print(json.dumps(_asktell(name, events(), options.seconds)), flush=True)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        seconds, version = RUNS[options.what](Path(folder), options.trials, options.workers)
    print(json.dumps({"what": options.what, "seconds": seconds, "version": version}))
    return 0


def _asktell(name: str, events: Iterator[tuple[int, float]], seconds: float) -> dict[str, Any]:
    """Events until 100,000 trials are known, or the time is up; the last of them count."""
    took: list[float] = []
    trials, deadline = 0, 0.0
    for trials, spent in events:
        took.append(spent)
        deadline = deadline or time.monotonic() + seconds  # imports do not count
        if trials >= KNOWN or time.monotonic() > deadline:
            break
    last = took[-_LAST:]
    return {"what": name, "median": statistics.median(last), "trials": trials, "events": len(last)}


def _optuna(sampler: str) -> Callable[[], Iterator[tuple[int, float]]]:
    def events() -> Iterator[tuple[int, float]]:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        chosen = {"random": optuna.samplers.RandomSampler, "tpe": optuna.samplers.TPESampler}[sampler](seed=1)
        study = optuna.create_study(sampler=chosen)
        for number in range(1, KNOWN + 1):
            begin = time.perf_counter()
            trial = study.ask()
            loss = trial.suggest_float("rate", 1e-5, 1, log=True) + trial.suggest_float("dropout", 0, 0.9)
            trial.suggest_int("width", 8, 512)
            trial.suggest_categorical("act", ["relu", "tanh", "gelu"])
            study.tell(trial, loss)
            yield number, time.perf_counter() - begin

    return events


def _ray_asha() -> Iterator[tuple[int, float]]:
    from ray.tune.schedulers import AsyncHyperBandScheduler

    scheduler = AsyncHyperBandScheduler(
        time_attr="epoch", metric="loss", mode="min", max_t=RUNGS[-1], grace_period=1, reduction_factor=4
    )
    chance = random.Random(1)
    for number in range(1, KNOWN + 1):
        trial = SimpleNamespace(trial_id=str(number))  # all that the scheduler looks at
        scheduler.on_trial_add(None, trial)
        for epoch in RUNGS:
            begin = time.perf_counter()
            said = scheduler.on_trial_result(None, trial, {"epoch": epoch, "loss": chance.random()})
            yield number, time.perf_counter() - begin
            if said == "STOP":
                break


def _syne_tune_asha() -> Iterator[tuple[int, float]]:
    import datetime

    from syne_tune.backend.trial_status import Trial
    from syne_tune.config_space import choice, loguniform, randint, uniform
    from syne_tune.optimizer.baselines import ASHA

    space = {
        "rate": loguniform(1e-5, 1),
        "width": randint(8, 512),
        "dropout": uniform(0, 0.9),
        "act": choice(["r", "t"]),
    }
    scheduler = ASHA(space, metric="loss", time_attr="epoch", max_t=RUNGS[-1], reduction_factor=4, random_seed=1)
    chance, now = random.Random(1), datetime.datetime.now(datetime.UTC)
    for number in range(1, KNOWN + 1):
        begin = time.perf_counter()
        suggestion = scheduler.suggest()
        yield number, time.perf_counter() - begin
        trial = Trial(trial_id=number, config=suggestion.config, creation_time=now)
        scheduler.on_trial_add(trial)
        for epoch in RUNGS:
            begin = time.perf_counter()
            said = scheduler.on_trial_result(trial, {"epoch": epoch, "loss": chance.random()})
            yield number, time.perf_counter() - begin
            if said == "STOP":
                break


def _ray(folder: Path, trials: int, workers: int, *, reuse: bool) -> tuple[float, str]:
    import ray
    from ray import tune

    def noop(config: dict[str, Any]) -> None:
        tune.report({"loss": config["x"]})

    ray.init(
        num_cpus=workers,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
        _node_ip_address="127.0.0.1",
        _temp_dir=tempfile.mkdtemp(prefix="ray", dir=folder),
        object_store_memory=100 * 2**20,
    )
    try:
        tuner = tune.Tuner(
            tune.with_resources(noop, {"cpu": 1}),
            param_space={"x": tune.uniform(0, 1)},
            tune_config=tune.TuneConfig(num_samples=trials, max_concurrent_trials=workers, reuse_actors=reuse),
            run_config=tune.RunConfig(storage_path=str(folder / "results"), verbose=0),
        )
        begin = time.perf_counter()
        results = tuner.fit()
        took = time.perf_counter() - begin
    finally:
        ray.shutdown()
    done = sum("loss" in (result.metrics or {}) for result in results)
    if done != trials:
        raise SystemExit(f"ray: {done} of {trials} trials reported")
    return took, ray.__version__


def _syne_tune(folder: Path, trials: int, workers: int) -> tuple[float, str]:
    import syne_tune
    from syne_tune import StoppingCriterion, Tuner
    from syne_tune.backend import LocalBackend
    from syne_tune.config_space import uniform
    from syne_tune.optimizer.baselines import RandomSearch

    script = folder / "noop.py"
    script.write_text(SYNE_TUNE_TRIAL)
    tuner = Tuner(
        trial_backend=LocalBackend(entry_point=str(script)),
        scheduler=RandomSearch({"x": uniform(0, 1)}, metrics=["loss"], random_seed=1),
        stop_criterion=StoppingCriterion(max_num_trials_finished=trials),
        n_workers=workers,
        sleep_time=_SYNE_TUNE_SLEEP,
        save_tuner=False,
    )
    begin = time.perf_counter()
    tuner.run()
    took = time.perf_counter() - begin
    if tuner.tuning_status.num_trials_finished < trials:
        raise SystemExit(f"syne tune: {tuner.tuning_status.num_trials_finished} of {trials} trials finished")
    return took, syne_tune.__version__


def _optuna_workers(folder: Path, trials: int, workers: int, *, cold: bool) -> tuple[float, str]:
    """Worker processes on one journal file: a new process for each trial, or one for all trials of a worker."""
    import optuna

    journal = folder / "journal"
    storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(journal)))
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(study_name="noop", storage=storage)
    share = 1 if cold else trials // workers
    left = trials if cold else workers
    command = [sys.executable, "-c", COLD_TRIAL, str(journal), str(share)]
    running: list[subprocess.Popen[bytes]] = []
    begin = time.perf_counter()
    while left or running:
        running = [process for process in running if process.poll() is None]
        while left and len(running) < workers:
            running.append(subprocess.Popen(command))
            left -= 1
        time.sleep(0.002)
    took = time.perf_counter() - begin
    done = len(study.get_trials(states=(optuna.trial.TrialState.COMPLETE,)))
    if done != trials:
        raise SystemExit(f"optuna: {done} of {trials} trials are complete")
    return took, optuna.__version__


ASKTELL: dict[str, Callable[[], Iterator[tuple[int, float]]]] = {
    "Ray AsyncHyperBandScheduler.on_trial_result": _ray_asha,
    "Syne Tune ASHA suggest, on_trial_result": _syne_tune_asha,
    "Optuna RandomSampler ask + tell": _optuna("random"),
    "Optuna TPESampler ask + tell": _optuna("tpe"),
}
RUNS: dict[str, Callable[[Path, int, int], tuple[float, str]]] = {
    "ray": lambda folder, trials, workers: _ray(folder, trials, workers, reuse=False),
    "ray-reuse": lambda folder, trials, workers: _ray(folder, trials, workers, reuse=True),
    "syne-tune": _syne_tune,
    "optuna-cold": lambda folder, trials, workers: _optuna_workers(folder, trials, workers, cold=True),
    "optuna-loop": lambda folder, trials, workers: _optuna_workers(folder, trials, workers, cold=False),
}

if __name__ == "__main__":
    sys.exit(main())
