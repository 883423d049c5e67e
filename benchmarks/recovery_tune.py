"""Ray Tune's part of the kills: the driver of a search is killed -9, and a new one goes on by `Tuner.restore`.

The Ray cluster itself stays up. Tune saves the state of a search every ten seconds, so its driver is left ten times as
long between two kills as the other servers.
"""

import json
import secrets
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Self

import peers
import recovery_steps
from recovery_outcome import CALM, TRAINERS, Moment, Outcome, all_train, moments, outcome
from recovery_processes import Process, end, wait

HERE = Path(__file__).parent
_LONGER = 10
_READY = 180.0


def tune(kills: int) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="det-recovery-") as place:
        folder, diaries = Path(place), Path(place) / "diaries"
        diaries.mkdir()
        with _Ray(folder) as ray:
            serving, first_kill, status = _search(ray, diaries, kills)
        told = [(name, step) for name, taken in recovery_steps.read(diaries).items() for step in _reached(taken)]
        kept = _kept(folder / "results")
        crashed = TRAINERS if status else 0
        return outcome(diaries, serving, first_kill, crashed=crashed, told=told, kept=kept, checkpoints=True)


def _search(ray: "_Ray", diaries: Path, kills: int) -> tuple[list[float], float, int]:
    """(seconds until all trials ran again, when the first kill was, the last driver's exit status)."""
    driver, serving = ray.start("search"), []
    try:
        ray.wait(lambda: all_train(diaries), "eight trials of Ray Tune", driver)
        time.sleep(CALM)
        first_kill = time.monotonic()
        for n, moment in enumerate(moments(kills), start=1):
            _crash(driver, moment)
            begin = time.perf_counter()
            driver = ray.start("search")
            ray.wait(partial(_again, diaries, n), "trials that run again", driver)
            serving.append(time.perf_counter() - begin)
        (diaries / "stop").touch()
        return serving, first_kill, driver.wait(_READY)
    finally:
        end(driver)


class _Ray:
    """A cluster on this machine that outlives the drivers; its token is its own."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._token = folder, secrets.token_hex(32)

    def __enter__(self) -> Self:
        self._head = self.start("head")
        try:
            self.wait((self._folder / "address").exists, "a Ray cluster", self._head)
        except SystemExit:
            end(self._head)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        assert self._head.stdin is not None
        self._head.stdin.close()  # it takes the cluster down
        try:
            self._head.wait(30)
        except subprocess.TimeoutExpired:
            end(self._head)

    def start(self, what: str) -> Process:
        command = [peers.peers_python(), str(HERE / "recovery_tune_driver.py"), what, str(self._folder)]
        own = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": self._token, "RAY_USAGE_STATS_ENABLED": "0"}
        environment = peers.environment(PYTHONPATH=str(HERE), **own)
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(
                command, env=environment, stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=self._folder
            )

    def wait(self, condition: Callable[[], bool], what: str, process: Process) -> None:
        wait(condition, what, _READY, by=process, log=self._folder / "log")


def _crash(driver: Process, moment: Moment) -> None:
    time.sleep(_LONGER * moment.serves)
    driver.kill()
    driver.wait(30)
    time.sleep(moment.is_away)


def _again(diaries: Path, kills: int) -> bool:
    """Check whether every trial has taken a step in a process that began after so many kills."""
    diaries_now = recovery_steps.read(diaries)
    begun = [processes for processes in diaries_now.values() if len(processes) > kills and processes[kills]]
    return len(begun) == TRAINERS


def _reached(processes: list[list[recovery_steps.Step]]) -> range:
    """A step that a trial took again because it was restarted is one value, as it is one step of its training."""
    return range(1, max(step.number for steps in processes for step in steps) + 1)


def _kept(results: Path) -> list[tuple[str, int]]:
    lines = [line for file in results.glob("search/*/result.json") for line in file.read_text().splitlines()]
    found = [json.loads(line) for line in lines]
    return [(row["trial_id"], row["x"]) for row in found if "x" in row]
