"""Trials in containers under a real master, by the real `det`: trained, paused, resumed, through a kill -9."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from docker_daemon import DockerDaemon
from host_image import PLAIN

from cluster import Client, Cluster, det, eventually, write_experiment

TRAIN = """
import json, os, pathlib, sys, time
import determined as det
info = det.get_cluster_info()
with det.core.init() as core:
    begin = 0
    if info.latest_checkpoint is not None:
        with core.checkpoint.restore_path(info.latest_checkpoint) as path:
            begin = json.loads((path / "at.json").read_text())
    shm = os.statvfs("/dev/shm")
    print("python", sys.executable, "from", begin, "shm", shm.f_blocks * shm.f_frsize, os.environ["MINE"], flush=True)
    print("data:", pathlib.Path("data/words").read_text(), pathlib.Path("/run/determined/workdir/train.py").exists())
    try:
        pathlib.Path("data/new").touch()
    except OSError as e:
        print("cannot write:", e.strerror, flush=True)
    for step in range(begin, info.user_data["last"]):
        core.train.report_training_metrics(steps_completed=step + 1, metrics={"loss": 1 / (step + 1)})
        if core.preempt.should_preempt():
            with core.checkpoint.store_path({"steps_completed": step}) as (path, _):
                (path / "at.json").write_text(str(step))
            raise SystemExit
        time.sleep(0.02)
        if pathlib.Path("/out/go").exists():
            break
    core.train.report_validation_metrics(steps_completed=step + 1, metrics={"x": 1.0})
    print("finished from", begin, flush=True)
"""
HUNGRY = """
import determined as det
with det.core.init():
    print("begun", flush=True)
    hoard = [bytes(10_000_000) + b"x" * 10_000_000 for _ in range(100)]
"""


class Site:
    """A master whose tasks run in containers, and one user's view of it. `settings`: of its resource manager."""

    def __init__(self, place: Path, daemon: DockerDaemon, **settings: Any) -> None:
        self.place, self.daemon = place, daemon
        self.out, self.data, self.home = place / "out", place / "data", place / "home"
        for directory in (self.out, self.data, self.home):
            directory.mkdir()
        (self.data / "words").write_text("from the host")
        manager = {"type": "docker", "socket": daemon.socket, **settings}
        self.cluster = Cluster(place / "master", config={"resource_manager": manager})

    def start(self) -> None:
        self.cluster.start()
        self.client = Client(self.cluster.url)

    def submit(self, name: str, script: str = TRAIN, *, image: str, **config: Any) -> int:
        mounts = [
            {"host_path": str(self.out), "container_path": "/out"},
            {"host_path": str(self.data), "container_path": "data", "read_only": True},
        ]
        full = {
            "environment": {"image": image, "environment_variables": ["MINE=all mine"]},
            "bind_mounts": mounts,
            "data": {"last": 4000},
            "resources": {"shm_size": "64m"},
            **config,
        }
        path = write_experiment(self.place / name, script, full)
        said = det(self.home, "e", "create", str(path), str(path.parent), master=self.cluster.url).stdout
        return int(said.split("experiment ")[1].split()[0])

    def trial(self, experiment: int) -> dict[str, Any]:
        return self.client.trials(experiment)[0]

    def lines(self, experiment: int) -> str:
        return "\n".join(self.client.log_lines(self.trial(experiment)["id"]))

    def until_said(self, experiment: int, words: str, times: int = 1) -> None:
        eventually(
            lambda: self.client.trials(experiment) and self.lines(experiment).count(words) >= times,
            90,
            lambda: f"{words!r} was not said:\n{self.lines(experiment)}\n{self.cluster.log()[-3000:]}",
        )

    def until_state(self, experiment: int, *states: str) -> None:
        eventually(
            lambda: self.client.state(experiment) in states,
            90,
            lambda: f"{self.client.state(experiment)}:\n{self.lines(experiment)}\n{self.cluster.log()[-3000:]}",
        )

    def containers(self) -> list[str]:
        return self.daemon.command("ps", "-aq").split()

    def close(self) -> None:
        self.cluster.stop()
        self.daemon.clear()


@pytest.fixture
def site(request: pytest.FixtureRequest, tmp_path: Path, docker: DockerDaemon) -> Iterator[Site]:
    site = Site(tmp_path, docker, **getattr(request, "param", {}))
    try:
        site.start()
        yield site
    finally:
        site.close()


@pytest.mark.engines
def test_trial_in_an_image_is_trained_paused_resumed_and_survives_a_killed_master(site: Site) -> None:
    experiment = site.submit("whole", image=site.daemon.image(PLAIN))
    site.until_said(experiment, "python /usr/bin/python3 from 0 shm 67108864 all mine")
    site.until_said(experiment, "data: from the host True")
    site.until_said(experiment, "cannot write: Read-only file system")
    [held] = site.client.get("/api/v1/tasks")["allocationIdToSummary"].values()
    assert [one["resourcesType"] for one in held["resources"]] == ["docker-container"]
    det(site.home, "e", "pause", str(experiment), master=site.cluster.url)
    eventually(lambda: not site.containers(), 60)
    assert site.client.state(experiment) == "PAUSED"
    det(site.home, "e", "activate", str(experiment), master=site.cluster.url)
    site.until_said(experiment, "python /usr/bin/python3", times=2)
    [before] = site.containers()
    site.cluster.kill()
    site.start()
    assert site.containers() == [before]
    (site.out / "go").touch()
    site.until_state(experiment, "COMPLETED")
    said = site.lines(experiment)
    assert said.count("python /usr/bin/python3") == 2
    assert "finished from 0" not in said
    assert "not used, tasks run as plain processes" not in said
    trial = site.trial(experiment)
    assert trial["restarts"] == 0
    steps = [report["totalBatches"] for report in site.client.metrics(trial["id"], "training")]
    assert steps == sorted(set(steps))
    eventually(lambda: not site.containers(), 60)


@pytest.mark.engines
def test_trial_of_a_killed_container_goes_on_without_a_restart(site: Site) -> None:
    experiment = site.submit("killed", image=site.daemon.image(PLAIN))
    site.until_said(experiment, "data: from the host")
    site.daemon.command("kill", *site.containers())
    site.until_said(experiment, "data: from the host", times=2)
    (site.out / "go").touch()
    site.until_state(experiment, "COMPLETED")
    assert site.trial(experiment)["restarts"] == 0


@pytest.mark.engines
@pytest.mark.parametrize("site", [{"memory": "200m"}], indirect=True)
def test_trial_out_of_memory_is_named_as_that(site: Site) -> None:
    experiment = site.submit("hungry", HUNGRY, image=site.daemon.image(PLAIN))
    site.until_state(experiment, "ERROR")
    said = site.lines(experiment)
    assert "out of memory on the host: the kernel ended a process of this task's cgroup (its limit is 200 MiB)" in said
    shown = json.dumps(site.client.get(f"/api/v1/trials/{site.trial(experiment)['id']}"))
    assert "Host OOM" in shown


@pytest.mark.engines
def test_trial_of_a_missing_image_ends_with_its_name(site: Site) -> None:
    experiment = site.submit("missing", image="no.such.host.invalid/team/model:7")
    site.until_state(experiment, "ERROR")
    said = site.lines(experiment)
    assert "image 'no.such.host.invalid/team/model:7'" in said
    assert "docker pull no.such.host.invalid/team/model:7" in said
    assert "image no.such.host.invalid/team/model:7 is fetched; the task starts when it is here" in said
    assert "cannot be fetched yet, trying again" in said


SAVE = """
import os
import determined as det
from determined.errors import CheckpointNotStored
with det.core.init(checkpoint_storage=os.environ.get("OWN_STORE")) as core:
    try:
        with core.checkpoint.store_path({"steps_completed": 1}) as (path, storage_id):
            (path / "weights").write_text("w")
        print("saved", storage_id, flush=True)
    except CheckpointNotStored as e:
        print("not stored:", e, flush=True)
"""


@pytest.mark.engines
def test_checkpoints_in_a_directory_of_the_container_alone_are_refused(site: Site) -> None:
    image = site.daemon.image(PLAIN)
    storage = {"type": "directory", "container_path": "/only-here"}
    with pytest.raises(AssertionError, match="`/only-here` is a directory of the container alone"):
        site.submit("lost", SAVE, image=image, checkpoint_storage=storage)
    environment = {"image": image, "environment_variables": ["OWN_STORE=/tmp/only-here"]}
    experiment = site.submit("chosen", SAVE, image=image, environment=environment)
    site.until_state(experiment, "COMPLETED")
    assert "not stored: the master does not take checkpoint" in site.lines(experiment)
    assert "`/tmp/only-here` is a directory of the container alone" in site.lines(experiment)
    assert site.client.get(f"/api/v1/experiments/{experiment}/checkpoints")["checkpoints"] == []


@pytest.mark.engines
def test_checkpoints_behind_a_bind_mount_are_seen_downloaded_and_deleted_by_the_master(site: Site) -> None:
    storage = {"type": "directory", "container_path": "/out/checkpoints", "save_trial_best": 0, "save_trial_latest": 1}
    experiment = site.submit("mounted", SAVE, image=site.daemon.image(PLAIN), checkpoint_storage=storage)
    site.until_state(experiment, "COMPLETED")
    [saved] = site.client.get(f"/api/v1/experiments/{experiment}/checkpoints")["checkpoints"]
    stored = site.out / "checkpoints" / saved["uuid"]
    assert (stored / "weights").read_text() == "w"
    back = site.place / "back"
    words = ("checkpoint", "download", saved["uuid"], "-o", str(back), "--mode", "master")
    det(site.home, *words, master=site.cluster.url)
    assert (back / "weights").read_text() == "w"
    site.client.call("DELETE", "/api/v1/checkpoints", {"checkpointUuids": [saved["uuid"]]})
    eventually(lambda: not stored.exists(), 60)
