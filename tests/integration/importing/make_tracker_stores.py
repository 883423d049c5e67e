"""Make the small stores under `tracker_stores` with the real packages. The tests only read what it wrote.

By hand, where `pip install mlflow==3.17.2 optuna==5.0.0 tensorboard==2.21.0 wandb==0.29.0` was done:
`python tests/integration/importing/make_tracker_stores.py [mlflow] [optuna] [tensorboard] [wandb]`.
"""

import contextlib
import math
import os
import re
import shutil
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
STORES = Path(__file__).resolve().with_name("tracker_stores")


def single_objective(trial):
    lr = trial.suggest_float("lr", 1e-5, 1e-1, log=True)
    layers = trial.suggest_int("layers", 1, 4)
    optimizer = trial.suggest_categorical("optimizer", ["sgd", "adam", None])
    trial.set_user_attr("note", {"layers": layers})
    for step in range(3):
        trial.report(lr * layers / (step + 1), step)
    if trial.number == 1:
        import optuna

        raise optuna.TrialPruned
    if trial.number == 2:
        raise ValueError("the objective failed")
    return lr * layers + (optimizer == "adam")


def two_objectives(trial):
    x = trial.suggest_float("x", 0, 4, step=0.5)
    return x, (x - 2) ** 2


def fill_optuna(storage):
    import optuna

    sampler = optuna.samplers.RandomSampler(seed=1)
    study = optuna.create_study(storage=storage, study_name="vision/lr", direction="minimize", sampler=sampler)
    study.set_user_attr("owner", "ada")
    study.optimize(single_objective, n_trials=4, catch=(ValueError,))
    running = study.ask()
    running.report(math.nan, 0)
    running.report(math.inf, 1)
    study.enqueue_trial({"lr": 0.01})
    pair = optuna.create_study(
        storage=storage,
        study_name="pair",
        directions=["minimize", "maximize"],
        sampler=optuna.samplers.RandomSampler(1),
    )
    pair.optimize(two_objectives, n_trials=2)


def compact(database):
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA page_size = 512")
        connection.execute("VACUUM")


def make_optuna(target):
    from optuna.storages import JournalStorage, RDBStorage
    from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

    target.mkdir(parents=True)
    database = target / "study.db"
    fill_optuna(RDBStorage(f"sqlite:///{database}"))
    compact(database)
    journal = str(target / "journal.log")
    fill_optuna(JournalStorage(JournalFileBackend(journal, lock_obj=JournalFileOpenLock(journal))))


def log_run(name, config, *, code, sweep, rows=4):
    import wandb

    # Without the metadata the log has no path and no name of the machine.
    settings = wandb.Settings(sweep_id=sweep, x_disable_meta=True, host="host", x_stats_sampling_interval=0.5)
    run = wandb.init(
        project="vision", id=name, name=f"run {name}", config=config, tags=["small"], notes="made", settings=settings
    )
    for step in range(rows):
        run.log({"loss": 1.0 / (step + 1), "val/acc": step / 4, "deep": {"a": step}, "bad": math.nan})
    time.sleep(1)  # system statistics are sampled
    run.log({"picture": wandb.Histogram([1, 2, 3]), "loss": 0.1})
    run.summary["best"] = 0.1
    print(f"{name} has ended")
    run.finish(exit_code=code)


def make_wandb(target):
    work = Path(tempfile.mkdtemp())
    os.environ.update(WANDB_MODE="offline", WANDB_DIR=str(work), WANDB_SILENT="true", WANDB_DISABLE_CODE="true")
    for name, code, sweep in (("one", 0, None), ("two", 1, "sweep1"), ("three", 0, "sweep1")):
        log_run(name, {"lr": 0.1, "model": {"depth": 3}, "sizes": [1, 2]}, code=code, sweep=sweep)
    for log in sorted((work / "wandb").glob("offline-run-*/run-*.wandb")):
        kept = target / "wandb" / log.parent.name
        kept.mkdir(parents=True)
        shutil.copy(log, kept)
    shutil.rmtree(work)


def fill_mlflow(uri, artifacts):
    """Write a plain run, a search of two children, a failed, a running and a deleted run, and a registered model."""
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=uri, registry_uri=uri)
    vision = client.create_experiment("vision/mnist", artifact_location=artifacts)
    plain = client.create_run(
        vision, start_time=1_700_000_000_000, run_name="baseline", tags={"team": "blue"}
    ).info.run_id
    for key, value in {"lr": "0.01", "layers": "3", "optimizer": "adam", "augment": "True"}.items():
        client.log_param(plain, key, value)
    for step in range(5):
        moment = 1_700_000_001_000 + step * 1000
        client.log_metric(plain, "loss", 1.0 / (step + 1), timestamp=moment, step=step)
        client.log_metric(plain, "val/loss", 1.5 / (step + 1), timestamp=moment + 1, step=step)
    client.log_metric(plain, "loss", math.nan, timestamp=1_700_000_007_000, step=5)
    client.log_metric(plain, "loss", math.inf, timestamp=1_700_000_008_000, step=6)
    client.log_metric(plain, "loss", 0.25, timestamp=1_700_000_009_000, step=0)
    client.set_terminated(plain, "FINISHED", end_time=1_700_000_010_000)
    search = client.create_run(vision, start_time=1_700_000_100_000, run_name="search").info.run_id
    client.log_param(search, "trials", "2")
    for number in range(2):
        tags = {"mlflow.parentRunId": search}
        child = client.create_run(vision, start_time=1_700_000_110_000 + number, tags=tags, run_name=f"try {number}")
        client.log_param(child.info.run_id, "lr", str(10.0 ** -(number + 1)))
        for i in range(3):
            client.log_metric(
                child.info.run_id, "val_accuracy", 0.5 + 0.1 * i + number, timestamp=1_700_000_120_000 + i
            )
        client.set_terminated(child.info.run_id, ["FINISHED", "KILLED"][number], end_time=1_700_000_130_000)
    client.set_terminated(search, "FINISHED", end_time=1_700_000_140_000)
    failed = client.create_run(vision, start_time=1_700_000_200_000, run_name="failed").info.run_id
    client.set_terminated(failed, "FAILED", end_time=1_700_000_201_000)
    client.create_run(client.create_experiment("live", artifact_location=artifacts), start_time=1_700_000_300_000)
    deleted = client.create_run(vision, start_time=1_700_000_400_000).info.run_id
    client.set_terminated(deleted, "FINISHED", end_time=1_700_000_401_000)
    client.delete_run(deleted)
    client.create_registered_model("mnist")


def make_mlflow(target):
    """Write both kinds of stores; the experiment that MLflow makes by itself names no directory of this machine."""
    target.mkdir(parents=True)
    fill_mlflow(f"file://{target / 'mlruns'}", "s3://bucket/artifacts")
    meta = target / "mlruns" / "0" / "meta.yaml"
    meta.write_text(re.sub(r"file://\S*", "file:///home/ada/mlruns/0", meta.read_text()))
    database = target / "mlflow.db"
    fill_mlflow(f"sqlite:///{database}", "s3://bucket/artifacts")
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE experiments SET artifact_location = 'file:///home/ada' WHERE experiment_id = 0")
    compact(database)


def make_tensorboard(directory):
    """Write scalars as simple values and as tensors, hyperparameters, and a histogram that nothing here reads."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.hparams import summary_v2 as hparams
    from tensorboard.plugins.scalar import summary_v2 as scalar_summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    for name, rate in (("lr=0.1", 0.1), ("lr=0.01", 0.01)):
        writer = EventFileWriter(str(directory / "sweep" / name))
        writer.add_event(
            Event(wall_time=1_700_000_000.0, step=0, summary=hparams.hparams_pb({"lr": rate, "opt": "sgd"}))
        )
        for step in range(4):
            simple = Summary(value=[Summary.Value(tag="train/loss", simple_value=rate / (step + 1))])
            writer.add_event(Event(wall_time=1_700_000_001.0 + step, step=step, summary=simple))
            tensor = scalar_summary.scalar_pb("val/loss", 2 * rate / (step + 1))
            writer.add_event(Event(wall_time=1_700_000_001.5 + step, step=step, summary=tensor))
        writer.close()


MAKERS = {"mlflow": make_mlflow, "optuna": make_optuna, "tensorboard": make_tensorboard, "wandb": make_wandb}


def main():
    for name in sys.argv[1:] or MAKERS:
        shutil.rmtree(STORES / name, ignore_errors=True)
        MAKERS[name](STORES / name)


if __name__ == "__main__":
    main()
