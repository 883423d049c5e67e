"""Lines of the table of benchmarks in README.md: which cells of benchmarks/results each takes its numbers from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cell:
    """A number of a result: the row and column of a table, by how the row's first cell and the header begin.

    `under` is the beginning of the heading above the table, where several tables have the same rows. `after` is the
    text before the number, where a cell holds several.
    """

    row: str
    column: str
    under: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line: what was measured, our number, and the cells from which the best peer and the floor come.

    The floor is what the same work costs without any product; `best` chooses among several peers.
    """

    result: str
    what: str
    unit: str
    ours: Cell
    peers: Sequence[tuple[str, Cell]] = ()
    floor: tuple[str, Cell] | None = None
    best: Callable[[Sequence[float]], float] = min


def _in(column: str, under: str = "") -> Callable[[str], Cell]:
    return lambda row: Cell(row, column, under)


_report = _in("p50 us")
_startup = _in("median")
_values = _in("per second")
_stall = _in("median s")
_on_disk = _in("of what was saved", "20 saves, 1 % changed by each, ext4")
_trials = _in("trials/s")
_regret = _in("at 100%")
_added = _in("us added", "Steps of about 2 ms")
_stream = "one stream through the proxy"

LINES = (
    Line(
        "report_metrics",
        "a report of three floats in the training process, median",
        "µs",
        _report("determined"),
        [("trackio", _report("trackio")), ("TensorBoard", _report("TensorBoard")), ("W&B", _report("W&B"))],
    ),
    Line(
        "train_loop",
        "added to a training step of 2 ms, one thread",
        "µs",
        _added("determined"),
        [("Fabric", _added("Lightning Fabric")), ("Accelerate", _added("Accelerate")), ("Ignite", _added("Ignite"))],
        ("the plain loop against itself", _added("the plain loop")),
    ),
    Line(
        "train_loop_cuda",
        "the same on a GPU",
        "µs",
        _added("determined"),
        [("Fabric", _added("Lightning Fabric")), ("Accelerate", _added("Accelerate")), ("Ignite", _added("Ignite"))],
        ("the plain loop against itself", _added("the plain loop")),
    ),
    Line(
        "train_loop_trial",
        "added to a training step of 1.1 ms in a trial",
        "µs",
        Cell("1.1 ms", "us added in a trial"),
        floor=("a Trainer without a trial", Cell("1.1 ms", "us added by a Trainer")),
    ),
    Line(
        "checkpoint",
        "stall of a save of 1 GiB by a trial class",
        "s",
        _stall("a checkpoint of a PyTorchTrial"),
        [("torch.save", _stall("torch.save"))],
        ("cp", _stall("cp of such a file")),
    ),
    Line(
        "checkpoint_dedup",
        "disk for 20 saves, 1 % changed by each, ext4, blocks",
        "%",
        _on_disk("ours, deduplicate: blocks"),
        [(name, _on_disk(name)) for name in ("borg", "restic", "rsync")],
        ("cp", _on_disk("cp -r")),
    ),
    Line(
        "startup",
        "import of the package",
        "ms",
        _startup("import determined"),
        [(name, _startup(f"import {name}")) for name in ("mlflow", "wandb", "trackio")],
    ),
    Line(
        "startup",
        "`det e create -f` to the first user line, master up",
        "s",
        _startup("submit to first user line, warm: on"),
    ),
    Line(
        "startup",
        "the same where no master runs yet, which is started",
        "s",
        _startup("submit to first user line, no master yet: on"),
    ),
    Line(
        "startup",
        "a server is ready",
        "s",
        _startup("master ready, first"),
        [("MLflow", _startup("mlflow server ready"))],
    ),
    Line(
        "search_speed",
        "trials of a search a second that report once, 4 workers",
        "/s",
        _trials("determined, a script that reports"),
        [
            ("Ray Tune, actors reused", _trials("Ray Tune 2.60.0, actors reused")),
            ("Syne Tune", _trials("Syne Tune")),
            ("Optuna, a process for each", _trials("Optuna 5.0.0, a worker process for each")),
            ("Optuna, processes that loop", _trials("Optuna 5.0.0, worker processes that loop")),
        ],
        best=max,
    ),
    Line(
        "search_quality",
        "regret of a search at the end of its budget, mean over tasks",
        "",
        _regret("determined auto"),
        [(name, _regret(name.lower())) for name in ("Ray ASHA", "Optuna TPE + median", "Optuna TPE + Hyperband")],
    ),
    Line(
        "launch",
        "two ranks through their first barrier",
        "s",
        Cell("2", "ours"),
        [("torchrun", Cell("2", "torchrun")), ("Ray Train", Cell("2", "Ray Train"))],
    ),
    Line(
        "environment",
        "first line of a trial in an environment that is built already",
        "s",
        Cell("warm", "ours"),
        [("Ray", Cell("warm", "Ray"))],
        ("without an environment", Cell("none", "ours")),
    ),
    Line(
        "ingest",
        "metric values stored a second",
        "/s",
        _values("metric values, 10"),
        [("MLflow", _values("MLflow"))],
        best=max,
    ),
    Line(
        "import_upstream",
        "metric values imported a second",
        "/s",
        Cell("metric values/s, metrics alone", "measured"),
        [("MLflow", Cell("metric values/s, MLflow", "measured"))],
        best=max,
    ),
    Line(
        "registry",
        "list of 10,000 models, last changed first, median",
        "ms",
        Cell("last changed first", "p50"),
        [("MLflow", Cell("last changed first", "MLflow p50"))],
    ),
    Line("table", "newest of 10,000 trials, median", "ms", Cell("newest runs", "p50")),
    Line(
        "tasks",
        "one stream through the proxy",
        "MB/s",
        Cell(_stream, "ours"),
        [("JupyterHub's proxy", Cell(_stream, "beside it", after="configurable-http-proxy"))],
        ("the app itself", Cell(_stream, "beside it", after="the app itself")),
        best=max,
    ),
    Line(
        "abuse",
        "another user's write beside 10,000 half-open connections, 99th percentile",
        "ms",
        Cell("10,000 half-open", "p99"),
        floor=("without them", Cell("none", "p99")),
    ),
    Line("webhooks", "ingest beside 1,000 events a second, slower by", "%", Cell("50,000 values/s, with", "slower by")),
    Line("webui", "project of 10,000 trials, largest contentful paint", "ms", Cell("LCP of project", "measured")),
)
