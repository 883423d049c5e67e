"""Speed of a search: the cost of one decision at 100,000 trials, and no-op trials a second through everything.

    python benchmarks/search_speed.py [--quick] [--ours]

Beside it in the same run: Ray Tune, Syne Tune and Optuna, with the same number of workers.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import machine
import peers
import search_speed_pure as pure
import search_speed_trials as trials

HERE = Path(__file__).parent
WORKERS = 2
DECISION_SECONDS = 1e-3
TRIALS_PER_SECOND = {"core": 40.0, "torch": 10.0}
_PEER_SECONDS = 900.0
_PEERS = {
    "ray": "Ray Tune {version}, an actor for each trial",
    "ray-reuse": "Ray Tune {version}, actors reused",
    "syne-tune": "Syne Tune {version}, LocalBackend",
    "optuna-cold": "Optuna {version}, a worker process for each trial",
    "optuna-loop": "Optuna {version}, worker processes that loop (no cold start)",
}
_OURS = {
    "core": "determined, a script that reports one validation with `determined.core`",
    "core-cold": "determined, the same, `warm: false` in the master's config",
    "torch": "determined, a script that imports torch and trains for ten steps",
    "torch-cold": "determined, the same, `warm: false` in the master's config",
}


@dataclass(frozen=True, slots=True)
class Effort:
    known: int  # trials that a searcher knows when it is measured
    peer_seconds: float  # for each sampler or scheduler of the peers to grow in
    trials: int
    rounds: int


FULL = Effort(known=pure.KNOWN, peer_seconds=30.0, trials=96, rounds=3)
QUICK = Effort(known=2_000, peer_seconds=1.0, trials=8, rounds=1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="to see that it works, not how fast")
    parser.add_argument("--ours", action="store_true", help="leave the peers out")
    options = parser.parse_args()
    effort = QUICK if options.quick else FULL
    costs = pure.ours(effort.known)
    others = [] if options.ours else _peer(["asktell", "--seconds", str(effort.peer_seconds)])
    runs = _throughputs(effort, () if options.ours else tuple(_PEERS))
    print(_render(effort, costs, others, runs))
    slowest = max(cost.median for cost in costs)
    rates = {name: effort.trials / machine.median(runs[name].seconds) for name in TRIALS_PER_SECOND}
    fast = all(rates[name] >= wanted for name, wanted in TRIALS_PER_SECOND.items())
    return 0 if slowest <= DECISION_SECONDS and fast else 1


@dataclass(frozen=True, slots=True)
class Runs:
    what: str
    seconds: list[float]
    processor: str = ""


def _throughputs(effort: Effort, names: tuple[str, ...]) -> dict[str, Runs]:
    """Everybody once a round, so that a busy minute of the machine hits all."""
    seconds: dict[str, list[float]] = {name: [] for name in (*_OURS, *names)}
    words = dict(_OURS)
    spent: dict[str, list[trials.Throughput]] = {name: [] for name in _OURS}
    for _ in range(effort.rounds):
        for name in _OURS:
            with tempfile.TemporaryDirectory() as folder:
                spent[name].append(trials.run(Path(folder), name, effort.trials, WORKERS))
            seconds[name].append(spent[name][-1].seconds)
        for name in names:
            [told] = _peer([name, "--trials", str(effort.trials), "--workers", str(WORKERS)])
            seconds[name].append(told["seconds"])
            words[name] = _PEERS[name].format(version=told["version"])
    processor = {name: _processor(found) for name, found in spent.items()}
    return {name: Runs(words[name], seconds[name], processor.get(name, "")) for name in seconds}


def _processor(found: list[trials.Throughput]) -> str:
    master = machine.median([one.master for one in found]) * 1e3
    tasks = machine.median([one.tasks for one in found]) * 1e3
    return f"{master:.0f} + {tasks:.0f} ms"


def _peer(arguments: list[str]) -> list[dict[str, object]]:
    """Read what a peer's own process prints as JSON, whatever else it prints."""
    with tempfile.TemporaryDirectory() as folder:
        environment = peers.environment(RAY_USAGE_STATS_ENABLED="0", RAY_DEDUP_LOGS="0", SYNETUNE_FOLDER=folder)
        command = [peers.peers_python(), str(HERE / "search_speed_peers.py"), *arguments]
        done = subprocess.run(
            command,
            env=environment,
            cwd=folder,  # some of them leave files where they run
            stdout=subprocess.PIPE,
            text=True,
            timeout=_PEER_SECONDS,
            check=False,
        )
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed with status {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"what"')]


def _render(
    effort: Effort,
    costs: list[pure.Cost],
    others: list[dict[str, object]],
    runs: dict[str, Runs],
) -> str:
    return "\n".join(
        [
            "# Speed of search",
            "",
            _decisions(costs, others),
            "",
            f"## {effort.trials} short trials, {WORKERS} workers",
            "",
            _trials(effort, runs),
        ]
    )


def _decisions(costs: list[pure.Cost], others: list[dict[str, object]]) -> str:
    rows = [
        [
            cost.what,
            f"{cost.trials:,}",
            f"{cost.median * 1e6:.0f} us",
            f"{cost.p99 * 1e6:.0f} us",
            f"{cost.mean * 1e6:.0f} us",
            f"{(cost.snapshot or 0) * 1e3:.0f} ms",
            machine.held(cost.median, DECISION_SECONDS),
        ]
        for cost in costs
    ]
    for peer in others:
        known, median = int(str(peer["trials"])), float(str(peer["median"]))
        rows.append([f"*{peer['what']}*", f"{known:,}", f"{median * 1e6:.0f} us", "", "", "", ""])
    header = ["one event", "trials known", "median", "p99", "mean", "snapshot", "<= 1 ms"]
    return f"""## One decision

An event as the master hands it to a searcher (a trial was created, validated, exited), with the progress of the whole
search worked out after it, while the last 1,000 of so many trials run. The master takes a snapshot when a quarter as
many events have passed as there are trials. A peer's number is of the size that it reached in its
time.

{machine.table(header, rows)}"""


def _trials(effort: Effort, runs: dict[str, Runs]) -> str:
    ours = effort.trials / machine.median(runs["core"].seconds)
    rows = []
    for name, run in runs.items():
        rate = effort.trials / machine.median(run.seconds)
        spread = " ".join(f"{effort.trials / seconds:.1f}" for seconds in run.seconds)
        wanted = TRIALS_PER_SECOND.get(name)
        verdict = "" if wanted is None else f"{'held' if rate >= wanted else '**missed**'} (>= {wanted:.0f})"
        rows.append([run.what, f"{rate:.1f}", spread, f"{ours / rate:.1f}", run.processor, verdict])
    header = ["who", "trials/s", "each round", "ours (core) over it", "processor a trial: master + rest", "hold"]
    return f"""A random search. Ours: a real master on SQLite, and for each trial a runner and a script; each state and
report is committed, the context directory is fetched and unpacked, output is logged. Cold, both are new interpreters;
else both are forked, but for the first trials of each search, which are part of the time. The processor time of the
rest (runners, scripts, fork servers) is what the whole machine spent, without the master: other work counts.
Time runs from the submission to the end of the experiment. Ray Tune, Syne Tune: from `fit()`/`run()` to its return,
the cluster already up; Syne Tune's tuner looks at its workers every 20 ms. Optuna: worker processes on one journal.

{machine.table(header, rows)}"""


if __name__ == "__main__":
    sys.exit(main())
