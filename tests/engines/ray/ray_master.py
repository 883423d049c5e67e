"""A real master over a Ray cluster, and the trials that tests run on it."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
from ray_cluster import RayCluster

from cluster import Client, Cluster, eventually, write_experiment

# Saves every fifth step and goes on from there. `pace` seconds a step.
STEPS = """
import pathlib, time
import determined as det

info = det.get_cluster_info()
hparams = info.trial.hparams
with det.core.init() as core:
    step = 0
    if info.latest_checkpoint:
        with core.checkpoint.restore_path(info.latest_checkpoint) as path:
            step = int((path / "step").read_text())
    print(f"begins at {step} on {info.agent_id}", flush=True)
    while step < hparams["steps"]:
        time.sleep(hparams["pace"])
        step += 1
        core.train.report_training_metrics(steps_completed=step, metrics={"x": step})
        if step % 5 == 0:
            with core.checkpoint.store_path({"steps_completed": step}) as (path, uuid):
                (path / "step").write_text(str(step))
        if core.preempt.should_preempt():
            break
"""


@contextlib.contextmanager
def master_over(
    ray: RayCluster, directory: Path, pool: dict[str, Any], *, tls: dict[str, str] | None = None
) -> Iterator[Cluster]:
    """Start a master with the pool `default`. `tls`: as in its config. None of its runners is left at the end."""
    settings = {
        "type": "ray",
        "dashboard_url": ray.dashboard,
        "auth_token_file": str(ray.token_file),
        "run_root": str(directory / "sitter"),
    }
    config: dict[str, Any] = {"resource_manager": settings, "resource_pools": [{"pool_name": "default", "ray": pool}]}
    config["security"] = {"initial_user_password": "", **({"tls": tls} if tls else {})}
    master = Cluster(directory, slots=None, host=ray.master_address, config=config)
    master.start()
    try:
        yield master
    finally:
        master.stop()
        # What a master that is gone for good leaves behind would hold slots of the next test's.
        ray.kill_processes("ray::RunnerActor")
        ray.kill_processes("determined.engines.ray.bridge")
        eventually(lambda: left_over(directory) == [], 30)


def left_over(directory: Path) -> list[psutil.Process]:
    """Runners and tasks of a master with this directory, zombies aside."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            words = " ".join(process.cmdline())
            if str(directory / "sitter") in words and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def agents(client: Client) -> dict[str, dict[str, Any]]:
    return {agent["id"]: agent for agent in client.get("/api/v1/agents")["agents"]}


def ready(master: Cluster, ray: RayCluster, *names: str) -> Client:
    """Log in when the nodes of these names, else n1 and n2, are offered."""
    client = Client(master.url)
    wanted = {ray.agent_id(name) for name in names or ("n1", "n2")}
    eventually(lambda: wanted <= agents(client).keys(), 120, master.log)
    return client


def restarts(client: Client, trial: int) -> int:
    return int(client.get(f"/api/v1/trials/{trial}")["trial"].get("restarts") or 0)


def host_of(line: str) -> str:
    """n1 or n2, of a line `begins at 5 on n1-abcdef`."""
    return line.rsplit(maxsplit=1)[-1].rpartition("-")[0]


def submit(client: Client, directory: Path, *, steps: int, pace: float, **config: Any) -> int:
    hparams = {"steps": steps, "pace": pace}
    return client.submit(write_experiment(directory, STEPS, {"hyperparameters": hparams, **config}))


def trial_of(client: Client, experiment: int) -> int:
    return int(eventually(lambda: client.trials(experiment), 60)[0]["id"])


def begins(client: Client, trial: int) -> list[str]:
    """Return where, and from which step, each process of a trial began."""
    return said(client, trial, "begins at")


def said(client: Client, trial: int, words: str) -> list[str]:
    """Return what its log says from these words on."""
    return [line[line.index(words) :] for line in client.log_lines(trial) if words in line]


def await_step(client: Client, trial: int, step: int, seconds: float = 120) -> None:
    def reached() -> bool:
        return any(int(r["totalBatches"]) >= step for r in client.metrics(trial, "training"))

    eventually(reached, seconds, lambda: "\n".join(client.log_lines(trial)[-30:]), poll_seconds=0.2)
