"""A master killed with -9 while a job reports: whoever listens comes back, misses nothing, hears no change twice."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3
from listening import Listener
from websockets.exceptions import ConnectionClosed

STEPS = 120
KILLS = 2


class KillableMaster:
    """A process on one database and one port after another."""

    def __init__(self, folder: Path, db_url: str) -> None:
        self._config = folder / "master.yaml"
        security = {"initial_user_password": ""}
        self._config.write_text(
            json.dumps({"data_dir": str(folder / "data"), "db": {"url": db_url}, "security": security, "slots": 0})
        )
        self._http = urllib3.PoolManager(retries=False)
        self.headers: dict[str, str] = {}
        self.killed = [threading.Event() for _ in range(KILLS)]
        self.start()
        token = self.call("POST", "/api/v1/auth/login", {"username": "admin", "password": ""})["token"]
        self.headers = {"Authorization": f"Bearer {token}"}

    def start(self) -> None:
        reader, writer = os.pipe()
        flags = ["--config-file", str(self._config), "--port", "0", "--ready-fd", str(writer)]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("DET_")}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "determined.master", *flags],
            stderr=subprocess.DEVNULL,
            pass_fds=(writer,),
            env=environment,
        )
        os.close(writer)
        with os.fdopen(reader) as told:
            self.url = f"http://127.0.0.1:{int(told.readline())}"

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._http.request(method, self.url + path, json=body, headers=self.headers, timeout=60)
        assert answer.status == 200, answer.data
        return answer.json()


@pytest.fixture
def killable(tmp_path: Path, db_url: str) -> Iterator[KillableMaster]:
    master = KillableMaster(tmp_path, db_url)
    yield master
    master.kill()


def test_after_kill_9_the_stream_goes_on_without_a_gap_or_a_repetition(killable: KillableMaster) -> None:
    trial_id = _unmanaged_trial(killable)
    reporter = threading.Thread(target=_report, args=(killable, trial_id), name="reporter", daemon=True)
    listener = Listener(killable.url, killable.headers)
    wanted = {"trial_ids": [trial_id]}
    done = listener.subscribe(metrics={"since": -1, **wanted})[-1]
    ticks: list[dict[str, Any]] = []
    position = done["seq"]
    reporter.start()
    for number in range(1, KILLS + 1):
        listener.until(lambda m, n=number: m.get("metrics", {}).get("last_batch", 0) > n * STEPS // 4)
        killable.kill()
        killable.killed[number - 1].set()
        with pytest.raises(ConnectionClosed):
            listener.until(lambda m: False)
        ticks += listener.rows("metrics")
        position = max(position, *(tick["seq"] for tick in ticks))
        listener.close()
        killable.start()
        listener = Listener(killable.url, killable.headers)
        caught_up = listener.subscribe(epoch=done["epoch"], metrics={"since": position, **wanted})
        assert not [m for m in caught_up if "reset" in m]
        position = caught_up[-1]["seq"]
    listener.until(lambda m: m.get("metrics", {}).get("last_batch") == STEPS)
    reporter.join(60)
    assert not reporter.is_alive()
    ticks += listener.rows("metrics")
    listener.close()
    numbers = [tick["seq"] for tick in ticks]
    assert numbers == sorted(set(numbers))
    batches = [tick["last_batch"] for tick in ticks]
    assert batches == sorted(batches)
    assert len(batches) - len(set(batches)) <= KILLS, "only what was written but not acknowledged is reported again"
    chart = f"/api/v1/trials/time-series?trialIds={trial_id}&metricNames=loss&group=training&sampling=bucket"
    (series,) = killable.call("GET", chart)["trials"][0]["metrics"]
    assert (series["exact"], series["x"]) == (True, list(range(1, STEPS + 1)))


def _unmanaged_trial(master: KillableMaster) -> int:
    config = json.dumps({"name": "u", "searcher": {"name": "single", "metric": "loss"}})
    experiment = master.call("POST", "/api/v1/experiments", {"config": config, "unmanaged": True})["experiment"]["id"]
    trial = {"experimentId": experiment, "hparams": {}, "unmanaged": True}
    trial_id: int = master.call("POST", "/api/v1/trials", trial)["trial"]["id"]
    master.call("POST", f"/api/v1/trials/{trial_id}/start", {"trialId": trial_id, "resume": False})
    return trial_id


def _report(master: KillableMaster, trial_id: int) -> None:
    """Each step until it is acknowledged; the same value twice is one value.

    The job goes on through every kill, and is never over before one: before each quarter it waits for the kill in the
    quarter before.
    """
    for step in range(1, STEPS + 1):
        quarters = (step - 1) * 4 // STEPS
        for killed in master.killed[: max(0, quarters - 1)]:
            killed.wait(60)
        metrics = {"avgMetrics": {"loss": float(step)}}
        report = {"trialId": trial_id, "trialRunId": 1, "stepsCompleted": step, "metrics": metrics}
        body = {"group": "training", "metrics": report}
        while not _acknowledged(master, trial_id, body):
            threading.Event().wait(0.02)


def _acknowledged(master: KillableMaster, trial_id: int, body: dict[str, Any]) -> bool:
    try:
        master.call("POST", f"/api/v1/trials/{trial_id}/metrics", body)
    except urllib3.exceptions.HTTPError:
        return False
    return True
