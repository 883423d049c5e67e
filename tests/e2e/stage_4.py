"""Stage 4 of the Core API examples, on whatever cluster: submitted, watched, and what must have come of it."""

import re
from pathlib import Path

from cluster import HANG_SECONDS, Client, Cluster, det, eventually

STEP = 4 * 4 + 0 + 1 + 2 + 3  # increment_by of each of four ranks, and their numbers
CONFIG = "4_distributed.yaml"
RESUMED = "going on from checkpoint"
# The first time they train, from two reports on, all ranks stay where they ask about a pause until there is one.
ASKED = "                if core_context.preempt.should_preempt():\n"
STAYS = """\
                while batch >= 20 and latest_checkpoint is None:
                    if core_context.preempt.should_preempt(auto_ack=False):
                        break
                    time.sleep(0.02)
"""


def submit(cluster: Cluster, home: Path, model: Path, config: str = CONFIG, *flags: str) -> int:
    done = det(home, "e", "create", config, ".", *flags, master=cluster.url, cwd=model)
    match = re.search(r"Created experiment (\d+)", done.stdout)
    assert match, done.stdout
    return int(match[1])


def change(model: Path, script: str, old: str, new: str) -> Path:
    """The model with one place of a script made other."""
    path = model / script
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return model


def trial_of(client: Client, experiment: int) -> int:
    return int(eventually(lambda: client.trials(experiment))[0]["id"])


def await_reports(client: Client, trial: int, number: int) -> None:
    eventually(lambda: len(client.metrics(trial, "training")) >= number, explain=lambda: _log(client, trial))


def finished(client: Client, experiment: int, seconds: float = HANG_SECONDS) -> int:
    """Return the only trial, completed."""
    trial = trial_of(client, experiment)
    state = client.wait_state(experiment, "COMPLETED", "ERROR", seconds=seconds)
    assert state == "COMPLETED", _log(client, trial)
    return trial


def reported(client: Client, trial: int, name: str) -> dict[int, float]:
    found = client.metrics(trial, "training")
    assert len({report["totalBatches"] for report in found}) == len(found), "no step twice"
    return {report["totalBatches"]: report["metrics"]["avg_metrics"][name] for report in found}


def saved_at(client: Client, trial: int) -> list[int]:
    checkpoints = client.get(f"/api/v1/trials/{trial}/checkpoints")["checkpoints"]
    return sorted(checkpoint["metadata"]["steps_completed"] for checkpoint in checkpoints)


def resumed_at(client: Client, trial: int) -> set[int]:
    """Batches at which ranks went on."""
    return {int(line.split("at batch ")[1]) for line in said(client, trial, RESUMED)}


def said(client: Client, trial: int, words: str) -> list[str]:
    return [line for line in client.log_lines(trial) if words in line]


def pause_and_activate(client: Client, experiment: int, after: int) -> None:
    """Over HTTP. Training must stay somewhere until it is paused, or be slow enough not to be over before."""
    await_reports(client, trial_of(client, experiment), after)
    client.post(f"/api/v1/experiments/{experiment}/pause")
    client.wait_state(experiment, "PAUSED")
    client.post(f"/api/v1/experiments/{experiment}/activate")


def trained_in_step(client: Client, experiment: int) -> int:
    """Return the trial."""
    trial = finished(client, experiment)
    assert reported(client, trial, "x") == {batch: float(batch * STEP) for batch in range(10, 101, 10)}
    assert saved_at(client, trial) == list(range(10, 101, 10)), "each once, however often it was stopped"
    return trial


def pauses_in_step(cluster: Cluster, client: Client, home: Path, model: Path) -> None:
    change(model, "4_distributed.py", ASKED, STAYS + ASKED)
    experiment = submit(cluster, home, model)
    pause_and_activate(client, experiment, after=2)
    trial = trained_in_step(client, experiment)
    assert client.trials(experiment)[0]["restarts"] == 0
    (resumed,) = resumed_at(client, trial)
    assert 20 <= resumed < 100, "every rank went on from one checkpoint, and that was not the last"


def workers(run_root: Path) -> list[tuple[int, list[str]]]:
    """Processes of the script whose run directories lie there, with their words; zombies aside."""
    return [(pid, words) for pid, words in _processes(run_root) if "wrap_rank" not in " ".join(words)]


def worker(run_root: Path, rank: int) -> int:
    """The process of a rank, which is the child of what marks its output."""
    marker = next(pid for pid, words in _processes(run_root) if _marks(words) == rank)
    children = Path(f"/proc/{marker}/task/{marker}/children").read_text().split()
    (found,) = [pid for pid, _ in workers(run_root) if str(pid) in children]
    return found


def _marks(words: list[str]) -> int | None:
    place = next((n for n, word in enumerate(words) if word.endswith("wrap_rank")), None)
    return None if place is None else int(words[place + 1])


def _processes(run_root: Path) -> list[tuple[int, list[str]]]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().decode().split("\0")[:-1]
            inside = (entry / "cwd").readlink().is_relative_to(run_root)
        except OSError:
            continue
        if inside and any(word.endswith("4_distributed.py") for word in words):
            found.append((int(entry.name), words))
    return found


def _log(client: Client, trial: int) -> str:
    return "\n".join(client.log_lines(trial))
