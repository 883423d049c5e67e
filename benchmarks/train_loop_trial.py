"""Time that a trial class adds to a step in a real trial, by the length of the step and by how cold the caches are.

    python benchmarks/train_loop_trial.py [--quick] [--rounds N]

A trial has threads and processes beside it that a Trainer outside of one lacks, which is measured in the same run.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import machine
import peers
from train_loop import CASE, SOURCE, Estimate, Pair, estimate

HERE = Path(__file__).parent
DET = Path(sys.executable).with_name("det")
_LIMIT = 40e-6
_SECONDS = 600.0
_QUICK_PAIRS = 2
# Seconds that a plain step is to take, batch, steps of a turn, pairs; MiB of other memory that each step reads.
_STEPS = (
    (150e-6, 32, 50, 20, 0),
    (280e-6, 32, 50, 20, 0),
    (1.1e-3, 128, 10, 20, 0),
    (4e-3, 256, 10, 10, 0),
)
_COLD = (150e-6, 32, 10, 20, 40)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="to see that it works, not how fast")
    parser.add_argument(
        "--rounds",
        type=int,
        default=3,
        help="trials and processes of each step (default: 3)",
    )
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="det-train-loop-trial-") as folder,
        _own_master(Path(folder)) as trials,
    ):
        rows, held = [], True
        for case in _cases(quick=options.quick):
            inside: list[list[Pair]] = []
            outside: list[list[Pair]] = []
            for _ in range(1 if options.quick else options.rounds):
                inside.append(trials.run(case))
                outside.append(_trainer(case, Path(folder)))
            added = _added(inside)
            held = held and added.middle <= _LIMIT
            rows.append([_name(case), *_row(inside, added, _added(outside))])
    print(_render(rows))
    return 0 if held else 1


def _cases(*, quick: bool) -> list[dict[str, Any]]:
    steps = _STEPS[:1] if quick else _STEPS
    wanted = [{"target": target, "batch": batch, "device": "cpu"} for target, batch, *_ in steps]
    sizes = json.loads(_measured("calibrate", wanted, HERE))["sizes"]
    pairs = [*zip(sizes, steps, strict=True), (sizes[0], _COLD)]
    return [_case(size, *step, quick=quick) for size, step in pairs]


def _case(
    size: dict[str, Any], target: float, _batch: int, stride: int, pairs: int, elsewhere: int, *, quick: bool
) -> dict[str, Any]:
    pairs = _QUICK_PAIRS if quick else pairs
    return {**size, "target": target, "stride": stride, "pairs": pairs, "elsewhere": elsewhere}


def _trainer(case: dict[str, Any], folder: Path) -> list[Pair]:
    found: list[Pair] = json.loads(_measured("determined", [case], folder))["pairs"][0]
    return found


def _measured(what: str, cases: list[dict[str, Any]], folder: Path) -> str:
    environment = peers.environment(PYTHONPATH=str(SOURCE), CUDA_VISIBLE_DEVICES="")
    command = [sys.executable, str(CASE), what, json.dumps(cases)]
    done = subprocess.run(
        command,
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        timeout=_SECONDS,
        check=True,
    )
    return done.stdout.splitlines()[-1]


class _Trials:
    """Trials of an embedded master of their own."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.environment = peers.environment(
            HOME=str(home),
            DET_STATE_DIR=str(home / "state"),
            XDG_CONFIG_HOME=str(home / "config"),
        )
        self._context = home / "context"
        self._context.mkdir()
        shutil.copy(HERE / "train_loop_work.py", self._context)
        shutil.copy(HERE / "train_loop_trial_def.py", self._context / "model_def.py")

    def run(self, case: dict[str, Any]) -> list[Pair]:
        """Run a trial to its end; what it measured."""
        sys.stderr.write(f"{case}\n")
        config = {
            "name": "train_loop_trial",
            "entrypoint": "model_def:Trial",
            "searcher": {
                "name": "single",
                "metric": "validation_loss",
                "max_length": {"batches": _steps(case)},
            },
            "max_restarts": 0,
            "checkpoint_policy": "none",
            "environment": {"environment_variables": ["OMP_NUM_THREADS=1", "CUDA_VISIBLE_DEVICES="]},
            "hyperparameters": {
                "global_batch_size": case["batch"],
                "case": {"type": "const", "val": case},
            },
            "checkpoint_storage": {
                "type": "directory",
                "container_path": str(self._home),
            },
        }
        file = self._home / "config.yaml"
        file.write_text(json.dumps(config))
        command = [str(DET), "e", "create", str(file), str(self._context), "-f"]
        done = subprocess.run(
            command,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        line = next((line for line in done.stdout.splitlines() if "PAIRS " in line), None)
        if line is None:
            raise SystemExit(f"the trial measured nothing:\n{done.stdout}{done.stderr}")
        pairs: list[Pair] = json.loads(line.partition("PAIRS ")[2])
        return pairs


@contextmanager
def _own_master(folder: Path) -> Iterator[_Trials]:
    trials = _Trials(folder)
    try:
        yield trials
    finally:
        subprocess.run(
            [str(DET), "master", "stop"],
            env=trials.environment,
            stdout=subprocess.DEVNULL,
            check=False,
        )


def _steps(case: dict[str, Any]) -> int:
    """Return `Case.steps` of train_loop_work.py, which imports torch."""
    return 200 + 100 * int(case["pairs"]) + 1


def _added(processes: list[list[Pair]]) -> Estimate:
    return estimate([[other - plain for plain, other in pairs] for pairs in processes])


def _name(case: dict[str, Any]) -> str:
    target = 1e6 * case["target"]
    length = f"{target:.0f} us" if target < 1000 else f"{target / 1000:g} ms"
    return length if not case["elsewhere"] else f"{length}, and reads {case['elsewhere']} MiB"


def _row(inside: list[list[Pair]], added: Estimate, outside: Estimate) -> list[str]:
    plain = machine.median([plain for pairs in inside for plain, _ in pairs])
    return [f"{1e6 * plain:.0f} us", str(added), str(outside), "40 us", machine.held(added.middle, _LIMIT)]


def _render(rows: list[list[str]]) -> str:
    header = [
        "a step of about",
        "plain",
        "us added in a trial",
        "us added by a Trainer outside of one",
        "hold",
        "",
    ]
    return "\n".join([
        "# What a trial class adds to a step in a trial",
        "",
        "Measured as in train_loop.md, on one thread; the plain loop runs in the process of the trial, in turns.",
        "The last row reads other memory in each step of both loops, as a larger model or a busy neighbour does to the",
        "caches. Medians with a bootstrap interval of 95 %.",
        "",
        machine.table(header, rows),
        "",
    ])  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
