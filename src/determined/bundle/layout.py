"""Layout of a bundle: names of its files, and what is in those that are JSON."""

import re
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from determined.wire.trial_record import CheckpointRecord

FORMAT, VERSION = "determined-bundle", 1
MANIFEST, USERS, PLACES = "manifest.json", "users.json", "places.json"
PARQUET, JSON_LINES = "parquet", "jsonl"
ENDINGS = {PARQUET: ".parquet", JSON_LINES: ".jsonl.gz"}
LOG_ENDING = ".jsonl.gz"

_NAME = re.compile(
    r"users\.json|places\.json"
    r"|experiments/[1-9][0-9]{0,17}/("
    r"experiment\.json|config\.yaml|original\.yaml|code\.tgz|checkpoints\.json"
    r"|environment/[0-9]{1,3}\.json"
    r"|trials(\.parquet|\.jsonl\.gz)"
    r"|metrics/[^/]{1,4000}(\.parquet|\.jsonl\.gz)"
    r"|logs/[^/]{1,4000}\.jsonl\.gz"
    r"|checkpoints/[0-9A-Za-z._-]{1,200}/.{1,4000}"
    r")"
)


class BundleFile(msgspec.Struct, omit_defaults=True):
    """`unpacked`: bytes of what is compressed in it, where a reader has to unpack it."""

    size: int
    sha256: str
    unpacked: int | None = None


class Manifest(msgspec.Struct):
    """Last file of a bundle: what a reader checks all others against."""

    format: str
    version: int
    cluster_id: str
    determined: str  # release that wrote it
    tables: str  # parquet or jsonl
    experiments: list[int]
    counts: dict[str, int]
    files: dict[str, BundleFile]


class UserEntry(msgspec.Struct):
    """Owner of something in the bundle. Passwords, rights and addresses of agents stay where they are."""

    id: int
    username: str
    display_name: str = ""
    active: bool = True


class WorkspaceEntry(msgspec.Struct):
    id: int
    name: str
    owner: str
    archived: bool = False


class ProjectEntry(msgspec.Struct):
    id: int
    workspace_id: int
    name: str
    owner: str
    key: str
    description: str = ""
    notes: list[dict[str, str]] = []
    archived: bool = False


class Places(msgspec.Struct):
    workspaces: list[WorkspaceEntry]
    projects: list[ProjectEntry]


class ExperimentEntry(msgspec.Struct):
    """`state` is a bare name, as the master stores it. Configs have files of their own."""

    id: int
    project_id: int
    owner: str
    job_id: str
    state: str
    name: str
    start_time: str
    description: str | None = None
    notes: str = ""
    labels: list[str] = []
    archived: bool = False
    unmanaged: bool = False
    external_id: str | None = None
    parent_id: int | None = None
    template: str | None = None
    pool: str | None = None
    progress: float | None = None
    end_time: str | None = None
    best_trial_id: int | None = None
    error: str | None = None


class LockEntry(msgspec.Struct):
    """Resolved packages for one kind of machine and Python."""

    platform: str
    created_at: str
    content: str


class CheckpointEntry(CheckpointRecord):
    """`copied`: its files are in the bundle, below `checkpoints/<uuid>/` of the experiment."""

    trial_id: int = 0
    copied: bool = False


class LogEntry(msgspec.Struct, omit_defaults=True):
    """Line of a log, without its newline."""

    time: str
    text: str
    level: str | None = None
    stdtype: str = "stdout"
    rank: int | None = None
    source: str = "task"
    allocation: str | None = None
    container: str | None = None
    agent: str | None = None


def folder(experiment_id: int) -> str:
    return f"experiments/{experiment_id}"


def trials_file(experiment_id: int, form: str) -> str:
    return f"{folder(experiment_id)}/trials{ENDINGS[form]}"


def metrics_file(experiment_id: int, group: str, form: str) -> str:
    return f"{folder(experiment_id)}/metrics/{quote(group, safe='')}{ENDINGS[form]}"


def group_of(name: str, form: str) -> str:
    """Return the metric group whose file this is."""
    return unquote(PurePosixPath(name).name.removesuffix(ENDINGS[form]))


def log_file(experiment_id: int, task_id: str) -> str:
    return f"{folder(experiment_id)}/logs/{quote(task_id, safe='')}{LOG_ENDING}"


def task_of(name: str) -> str:
    """Return the task whose log this is."""
    return unquote(PurePosixPath(name).name.removesuffix(LOG_ENDING))


def is_known(name: str) -> bool:
    """Say whether a bundle may have a file of this name; none leads out of a directory."""
    parts = name.split("/")
    odd = any(part in ("", ".", "..") for part in parts) or any(ord(c) < 32 or c == "\\" for c in name)
    return not odd and _NAME.fullmatch(name) is not None


def lines_of(entries: list[Any]) -> bytes:
    """Write a JSON list with an entry on each line, which is read line by line."""
    return b"[\n" + b",\n".join(encode(entry) for entry in entries) + b"\n]\n" if entries else b"[]\n"


def encode(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic")


def document(value: Any) -> bytes:
    """Write JSON for people: indented, keys in order."""
    return msgspec.json.format(encode(value), indent=2) + b"\n"
