"""Trials on a real Slurm under a real master: one node, several, pausing, preemption, loss, restarts, cancelling."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import stage_4
from slurm_cluster import SlurmCluster

from cluster import Client, Cluster, copy_example, det, eventually, write_experiment

TRAIN = """
import json, os, pathlib, time
import determined as det
info = det.get_cluster_info()
distributed = det.core.DistributedContext(
    rank=info.container_rank, size=len(info.container_addrs), local_rank=0, local_size=1,
    cross_rank=info.container_rank, cross_size=len(info.container_addrs), chief_ip=info.container_addrs[0],
)
with det.core.init(distributed=distributed) as core:
    begin = 0
    if info.latest_checkpoint is not None:
        with core.checkpoint.restore_path(info.latest_checkpoint) as path:
            begin = json.loads((path / "at.json").read_text())
    seen = distributed.allgather((info.container_rank, os.environ.get("CUDA_VISIBLE_DEVICES"), len(info.slot_ids)))
    if distributed.rank == 0:
        print("ranks", sorted(seen), "from", begin, flush=True)
    last = info.user_data["last"]
    for step in range(begin, last):
        if core.preempt.should_preempt():
            if distributed.rank == 0:
                with core.checkpoint.store_path({"steps_completed": step}) as (path, _):
                    (path / "at.json").write_text(str(step))
            raise SystemExit
        time.sleep(0.05)
        if pathlib.Path(info.user_data["go"]).exists():
            break
    if distributed.rank == 0:
        core.train.report_validation_metrics(steps_completed=max(1, step), metrics={"x": 1.0})
        print("finished from", begin, flush=True)
"""


class Site:
    """A master on a Slurm, and one user's view of it. `settings`: of its resource manager."""

    def __init__(self, place: Path, slurm: SlurmCluster, **settings: Any) -> None:
        self.place, self.slurm = place, slurm
        self.go = place / "go"
        manager = {"type": "slurm", "run_root": str(place / "runs"), "job_storage_root": str(place), **settings}
        pools = [{"pool_name": "gpus", "partition": "main"}, {"pool_name": "urgent"}, {"pool_name": "small"}]
        self.cluster = Cluster(
            place / "master", slots=None, config={"resource_manager": manager, "resource_pools": pools}
        )
        self.cluster.start()
        self.client = Client(self.cluster.url)

    def submit(self, name: str, *, slots: int, **config: Any) -> int:
        data = {"go": str(self.go), "last": 4000}
        full = {"resources": {"slots_per_trial": slots, **config.pop("resources", {})}, "data": data, **config}
        return self.client.submit(write_experiment(self.place / name, TRAIN, full))

    def trial(self, experiment_id: int) -> dict[str, Any]:
        return self.client.trials(experiment_id)[0]

    def lines(self, experiment_id: int) -> str:
        return "\n".join(self.client.log_lines(self.trial(experiment_id)["id"]))

    def until_said(self, experiment_id: int, words: str, times: int = 1, seconds: float = 60) -> None:
        eventually(
            lambda: self.client.trials(experiment_id) and self.lines(experiment_id).count(words) >= times,
            seconds,
            lambda: f"{words!r} was not said:\n{self.lines(experiment_id)}\n{self.cluster.log()[-3000:]}",
        )

    def until_state(self, experiment_id: int, *states: str) -> None:
        eventually(
            lambda: self.client.state(experiment_id) in states,
            60,
            lambda: f"{self.client.state(experiment_id)}:\n{self.lines(experiment_id)}\n{self.cluster.log()[-3000:]}",
        )

    def queued(self) -> list[str]:
        """Job ids, states and nodes of all jobs that Slurm has not ended."""
        return self.slurm.command("squeue", "-h", "-o", "%i %T %N").splitlines()

    def close(self) -> None:
        self.slurm.clear()
        self.cluster.stop()


@pytest.fixture
def site(request: pytest.FixtureRequest, tmp_path: Path, at_slurm: SlurmCluster) -> Iterator[Site]:
    site = Site(tmp_path, at_slurm, **getattr(request, "param", {}))
    yield site
    site.close()
    eventually(lambda: not at_slurm.steps(), 20)


def test_trial_on_two_nodes_of_two_gpus_rendezvouses(site: Site) -> None:
    experiment = site.submit("two", slots=4)
    site.go.touch()
    site.until_state(experiment, "COMPLETED")
    assert "ranks [(0, '0,1', 2), (1, '0,1', 2)] from 0" in site.lines(experiment)
    said = det(site.place, "slot", "list", master=site.cluster.url).stdout
    assert "n1" in said
    eventually(lambda: not site.queued())


# A node has two GPUs, and eight CPUs.
ON_ONE_NODE_AND_ON_TWO = pytest.mark.parametrize(
    "site", [{"slot_type": "cpu"}, {"slot_type": "cuda"}], indirect=True, ids=["one-node", "two-nodes"]
)


@pytest.mark.engines
@ON_ONE_NODE_AND_ON_TWO
def test_stage_4_trains_in_step_on_all_ranks(request: pytest.FixtureRequest, site: Site, home: Path) -> None:
    model = copy_example("core_api", site.place / "model")
    trial = stage_4.trained_in_step(site.client, stage_4.submit(site.cluster, home, model))
    placed = {line.split("runs on ")[1].split()[0] for line in site.client.log_lines(trial) if " runs on n" in line}
    assert len(placed) == (1 if "one-node" in request.node.name else 2)
    assert not stage_4.workers(site.place / "runs")


@pytest.mark.engines
@ON_ONE_NODE_AND_ON_TWO
def test_a_pause_stops_all_ranks_after_the_same_batch(site: Site, home: Path) -> None:
    stage_4.pauses_in_step(site.cluster, site.client, home, copy_example("core_api", site.place / "model"))


@pytest.mark.engines
def test_pending_reason_is_shown_in_the_words_of_slurm(site: Site) -> None:
    first = site.submit("first", slots=6)
    site.until_said(first, "ranks")
    second = site.submit("second", slots=2)

    def shown() -> str:
        return det(site.place, "job", "list", "--yaml", master=site.cluster.url).stdout

    eventually(lambda: "Slurm job 2" in shown() or "is PENDING: " in shown(), 30, shown)
    assert site.client.state(second) == "QUEUED"
    site.go.touch()
    site.until_state(second, "COMPLETED")


@pytest.mark.engines
def test_paused_trial_leaves_slurm_and_goes_on_from_its_checkpoint(site: Site) -> None:
    experiment = site.submit("paused", slots=4)
    site.until_said(experiment, "ranks")
    site.client.post(f"/api/v1/experiments/{experiment}/pause")
    eventually(lambda: not site.queued())
    assert site.client.state(experiment) == "PAUSED"
    site.client.post(f"/api/v1/experiments/{experiment}/activate")
    site.until_said(experiment, "ranks", times=2)
    site.go.touch()
    site.until_state(experiment, "COMPLETED")
    assert site.trial(experiment)["restarts"] == 0
    assert "finished from 0" not in site.lines(experiment)


@pytest.mark.engines
def test_preempted_trial_saves_waits_and_finishes_without_a_restart(site: Site) -> None:
    experiment = site.submit("preempted", slots=6)
    site.until_said(experiment, "ranks")
    site.slurm.command("sbatch", "-p", "urgent", "-N3", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 1")
    site.until_said(experiment, "ranks", times=2, seconds=90)
    site.go.touch()
    site.until_state(experiment, "COMPLETED")
    assert site.trial(experiment)["restarts"] == 0
    assert "finished from 0" not in site.lines(experiment)


@pytest.mark.engines
@pytest.mark.timeout(240)
def test_trial_of_a_lost_node_goes_on_elsewhere_without_a_restart(site: Site) -> None:
    experiment = site.submit("lost", slots=4)
    site.until_said(experiment, "ranks")
    site.slurm.lose_node("n1")
    site.until_said(experiment, "ranks", times=2, seconds=120)
    [running] = [job for job in site.queued() if "RUNNING" in job]  # the lost one may still be ending there
    assert "n1" not in running
    site.go.touch()
    site.until_state(experiment, "COMPLETED")
    assert site.trial(experiment)["restarts"] == 0


@pytest.mark.engines
def test_killed_master_takes_up_running_and_pending_jobs(site: Site) -> None:
    running, pending = site.submit("running", slots=6), site.submit("pending", slots=2)
    site.until_said(running, "ranks")
    eventually(lambda: len(site.queued()) == 2)
    before = [line.split()[0] for line in site.queued()]
    site.cluster.kill()
    site.cluster.start()
    site.client = Client(site.cluster.url)
    site.go.touch()
    site.until_state(running, "COMPLETED")
    site.until_state(pending, "COMPLETED")
    after = site.slurm.command("squeue", "-h", "-t", "all", "-o", "%i").split()
    assert set(after) >= set(before)
    assert max(map(int, after)) == max(map(int, before))
    assert site.lines(running).count("ranks") == 1


@pytest.mark.engines
@pytest.mark.parametrize("slots", [4, 1])
def test_trial_whose_job_somebody_cancels_ends_with_the_reason(site: Site, slots: int) -> None:
    experiment = site.submit("canceled", slots=slots)
    site.until_said(experiment, "ranks")
    site.slurm.command("scancel", site.queued()[0].split()[0])
    site.until_state(experiment, "ERROR")
    assert "is CANCELLED" in site.lines(experiment)
    eventually(lambda: not site.queued())


@pytest.mark.engines
def test_option_that_is_ours_is_refused_at_submit(site: Site) -> None:
    config = write_experiment(site.place / "refused", TRAIN, {"slurm": {"sbatch_args": ["--nodes=7"]}})
    said = det(site.place, "e", "create", str(config), str(config.parent), master=site.cluster.url, check=False)
    assert said.returncode != 0
    assert "--nodes=7" in said.stdout + said.stderr
    config = write_experiment(site.place / "odd", TRAIN, {"resources": {"slots_per_trial": 5}})
    said = det(site.place, "e", "create", str(config), str(config.parent), master=site.cluster.url, check=False)
    assert "ask for 4" in said.stdout + said.stderr
