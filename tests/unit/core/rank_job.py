"""Jobs of several ranks for tests: as real processes, or as threads of this one."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kept_port import kept_port

from determined.core import DistributedContext

PROGRAM = Path(__file__).with_name("rank_program.py")
Job = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Run a scenario of rank_program.py on `size` ranks; each rank's answer, {} of one that was killed."""

    def run(scenario: str, size: int = 3, local_size: int | None = None) -> list[dict[str, Any]]:
        env = {"PATH": "/usr/bin:/bin", "DET_SESSION_TOKEN": "secret", "HOME": str(tmp_path)}
        with kept_port() as port:
            words = [str(size), str(local_size or size), str(port), str(tmp_path)]
            command = [sys.executable, str(PROGRAM), scenario]
            ranks = [
                subprocess.Popen([*command, str(rank), *words], env=env, stdout=subprocess.PIPE, text=True)
                for rank in range(size)
            ]
            return [json.loads(rank.communicate(timeout=60)[0] or "{}") for rank in ranks]

    return run


def results(answers: list[dict[str, Any]]) -> list[Any]:
    assert not [answer for answer in answers if "error" in answer], answers
    return [answer["result"] for answer in answers]


def errors(answers: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(answer["error"], answer["message"]) for answer in answers]


def threaded(
    work: Callable[[DistributedContext], Any],
    ranks: list[int],
    *,
    size: int,
    local_size: int | None = None,
    port: int | None = None,
    **how: Any,
) -> list[Any]:
    """Return what `work` returns or raises on each of `ranks`, as threads. A rank not named never comes."""
    if port is None:
        with kept_port() as kept:
            return threaded(work, ranks, size=size, local_size=local_size, port=kept, **how)
    outcomes: dict[int, Any] = {}
    local = local_size or size

    def live(position: int, rank: int) -> None:
        numbers = {"local_rank": rank % local, "local_size": local, "cross_rank": rank // local}
        try:
            with DistributedContext(
                rank=rank, size=size, **numbers, cross_size=-(-size // local), pub_port=port, **how
            ) as dist:
                outcomes[position] = work(dist)
        except (Exception, SystemExit) as err:
            outcomes[position] = err

    threads = [threading.Thread(target=live, args=pair) for pair in enumerate(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [outcomes[position] for position in range(len(ranks))]
