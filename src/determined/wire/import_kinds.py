"""Kinds of imports: the sub-commands of `det master import`, and the arguments of the process that does the work.

The code of a kind is `master/importing/sources/<name>/entry.py`; nothing else lists the names.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    """Option of one kind. Without `metavar` it is a switch; `repeated` ones may be given several times."""

    flag: str
    help: str
    metavar: str | None = None
    repeated: bool = False

    @property
    def name(self) -> str:
        return self.flag.removeprefix("--").replace("-", "_")


@dataclass(frozen=True, slots=True)
class ImportKind:
    name: str
    help: str
    source_metavar: str
    source_help: str
    note: str
    options: tuple[Option, ...] = ()
    is_named: bool = False  # the source may be named without --source


def _example(name: str, source: str) -> str:
    return f"""
  det master stop
  det master import {name} --source {source} --dry-run
  det master import {name} --source {source}
  det master start
"""


UPSTREAM = ImportKind(
    "upstream",
    "import the database of an upstream master",
    "URL",
    "postgresql://... of upstream's database; it is only read",
    """\
Stop upstream's master first, or name a restored dump or a replica. The source is only read; a role with SELECT is
enough. A password may come from PGPASSWORD or ~/.pgpass instead of the URL. An import that was interrupted goes on
when it is run again; a finished one takes only what is new.
"""
    + _example("upstream", "postgresql://determined@db/determined"),
    (
        Option("--only", "workspaces=NAME,NAME or experiments=1-500,600; may be repeated", "NOUN=...", repeated=True),
        Option("--since", "only experiments that started on this day or later", "DATE"),
        Option("--no-logs", "leave task logs out"),
        Option("--with-profiling", "take the system metrics of the profiler too"),
        Option("--check-files", "compare the files of N checkpoints by size, where their storage is reachable", "N"),
    ),
)

_PLACES = (
    Option("--workspace", "workspace of what comes in, made where it is missing (default: the tracker's name)", "NAME"),
    Option("--user", "owner of what comes in (default: determined)", "NAME"),
)
_METRICS = (
    Option(
        "--validation",
        "names of validation metrics, such as 'holdout*'; may be repeated (default: val*, eval*, test*, dev*)",
        "PATTERN",
        repeated=True,
    ),
    Option("--metric", "metric that trials are compared by (default: a loss of the validation)", "NAME"),
    Option("--maximize", "with --metric: the larger, the better"),
)
_AGAIN = """\
The store is only read. An import that was interrupted goes on when it is run again; a finished one takes only runs that
are new.
"""

MLFLOW = ImportKind(
    "mlflow",
    "import the runs of an MLflow tracking directory, database or server",
    "DIR|URL",
    "the directory `mlruns`, sqlite:///mlflow.db or postgresql://... of its database, or http://... of its server",
    """\
An experiment of MLflow becomes a project; a run becomes an experiment with one trial, and a run with children a search.
"""
    + _AGAIN
    + _example("mlflow", "mlruns"),
    (*_PLACES, *_METRICS),
)
WANDB = ImportKind(
    "wandb",
    "import the runs of a W&B directory",
    "DIR",
    "the directory `wandb` beside the script, with its runs (synced or offline)",
    """\
A project of W&B becomes a project; a run becomes an experiment with one trial, and a sweep a search.
"""
    + _AGAIN
    + _example("wandb", "wandb"),
    (*_PLACES, *_METRICS),
)
TENSORBOARD = ImportKind(
    "tensorboard",
    "import the event files of TensorBoard",
    "DIR",
    "the log directory; each directory with event files is a run",
    """\
Runs in one directory become the trials of one experiment; `train` and `validation` below a run are parts of it.
"""
    + _AGAIN
    + _example("tensorboard", "runs"),
    (*_PLACES, *_METRICS),
)
OPTUNA = ImportKind(
    "optuna",
    "import the studies of an Optuna storage",
    "URL|FILE",
    "sqlite:///study.db or postgresql://... of a storage, or the file of a journal",
    """\
A study becomes an experiment, with a trial for each trial that has begun.
"""
    + _AGAIN
    + _example("optuna", "sqlite:///study.db"),
    _PLACES,
)
BUNDLE = ImportKind(
    "bundle",
    "import a file of det experiment export",
    "FILE",
    "the bundle; it is only read",
    """\
Every file in it is checked before anything is written. Ids are kept; owners, workspaces and projects are found by their
names and made where they are missing. An import that was interrupted goes on when it is run again.

  det master stop
  det master import bundle three.tar --dry-run
  det master import bundle three.tar
  det master start
""",
    (
        Option(
            "--checkpoints",
            "where files of checkpoints go (default: imported-checkpoints in the data directory)",
            "DIR",
        ),
        Option("--no-logs", "leave task logs out"),
    ),
    is_named=True,
)

KINDS = {kind.name: kind for kind in list(globals().values()) if isinstance(kind, ImportKind)}
