"""Submits of a script that prints a line, for startup.py: with no master and with the embedded one running, by step.

    python benchmarks/startup_submit.py [WARM [COLD]]

Times are those at which a person at a terminal sees the output of `det e create -f`.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import machine
import peers

DET = Path(sys.executable).with_name("det")
_RUNS, _SEEN = "the script runs", "its line is on the screen"
# Steps, and the output that shows that one is done. The script tells by itself when it runs.
_STEPS = {
    "the files are read": "Preparing files",
    "the master serves": "Started a master",
    "the experiment is created": "Created experiment",
    "the runner runs": "New trial runner",
    _RUNS: "first line ",
    _SEEN: "first line ",
}

Submit = dict[str, float]  # seconds from enter on, by step


def main() -> int:
    numbers = [int(word) for word in sys.argv[1:]]
    print(render(*measured(*(numbers or [15, 5]))))
    return 0


def measured(warms: int, colds: int = 1) -> tuple[list[Submit], list[Submit]]:
    """Return submits without a master, each of another user, and submits to the last of them."""
    cold: list[Submit] = []
    warm: list[Submit] = []
    for number in range(colds + 1):
        with _home() as (home, environment):
            try:
                submit = _submit(home, environment)
                if number:  # the first compiles bytecode
                    cold.append(submit)
                if number == colds:
                    warm = [_submit(home, environment) for _ in range(warms)]
            finally:
                subprocess.run([str(DET), "master", "stop"], env=environment, check=True, stdout=subprocess.DEVNULL)
    return cold, warm


def seen(submits: Sequence[Submit]) -> list[float]:
    return [submit[_SEEN] for submit in submits]


def render(cold: Sequence[Submit], warm: Sequence[Submit]) -> str:
    rows = [[step, _median(cold, step), _median(warm, step)] for step in _STEPS]
    return "\n".join([
        "## A submit, step by step",
        "",
        "Milliseconds from enter on, medians.",
        "",
        machine.table(["until", "no master yet", "warm"], rows),
        "",
    ])  # fmt: skip


def _median(submits: Sequence[Submit], step: str) -> str:
    values = [submit[step] for submit in submits if step in submit]
    return f"{1000 * machine.median(values):.0f}" if values else ""


@contextmanager
def _home() -> Iterator[tuple[Path, dict[str, str]]]:
    """A user who has never run anything, with an experiment."""
    with tempfile.TemporaryDirectory(prefix="det-submit-") as folder:
        home = Path(folder)
        environment = peers.environment(
            HOME=folder, DET_STATE_DIR=f"{folder}/state", XDG_CONFIG_HOME=f"{folder}/config"
        )
        context = home / "context"
        context.mkdir()
        (context / "train.py").write_text("import time\nprint(f'first line {time.time()}', flush=True)\n")
        storage = f"checkpoint_storage: {{type: directory, container_path: {home / 'checkpoints'}}}\n"
        text = "entrypoint: python3 train.py\nsearcher: {name: single, metric: x}\nmax_restarts: 0\n"
        (home / "config.yaml").write_text(f"name: benchmark\n{text}{storage}")
        (home / "checkpoints").mkdir()
        yield home, environment


def _submit(home: Path, environment: dict[str, str]) -> Submit:
    command = [str(DET), "e", "create", str(home / "config.yaml"), str(home / "context"), "-f"]
    begin = time.time()
    submit: Submit = {}
    told = []
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as det:
        assert det.stdout is not None
        for line in det.stdout:
            now = time.time() - begin
            told.append(line)
            submit |= {step: now for step, mark in _STEPS.items() if mark in line and step not in submit}
            if _STEPS[_RUNS] in line:
                submit[_RUNS] = float(line.split(_STEPS[_RUNS], 1)[1]) - begin
    if _SEEN not in submit:
        raise SystemExit("the script's line never came:\n" + "".join(told))
    return submit


if __name__ == "__main__":
    sys.exit(main())
