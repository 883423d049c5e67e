"""Export into the tracking server of MLflow: a project becomes an experiment, a trial a run.

A run is found again by its tags, and remembers in a tag for each metric group how far it has come: a second export, or
one after a kill, sends what is missing.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime

import msgspec

from determined._json import JsonObject
from determined.api import cluster, experiment
from determined.api.session import Session
from determined.bundle.columns import Report
from determined.cli import environment
from determined.cli.exporting import mlflow_names, records
from determined.cli.exporting.mlflow_server import MlflowServer
from determined.wire.experiment import Experiment
from determined.wire.trial_record import CheckpointRecord, TrialRecord

_PLAIN, _HASHED = re.compile(r"[A-Za-z0-9_.-]{1,100}"), "sha256-"
_BATCH = 999  # metrics of a request: with the tag beside them they are as many entries as MLflow takes
TRIAL, EXPERIMENT, CLUSTER = "determined.trial_id", "determined.experiment_id", "determined.cluster_id"
CHECKPOINT, SENT = "determined.checkpoint", "determined.exported"
_STATUS = {"COMPLETED": "FINISHED", "ERROR": "FAILED", "CANCELED": "KILLED"}


@dataclass(slots=True)
class Counts:
    experiments: int = 0
    trials: int = 0
    new_runs: int = 0
    metrics: int = 0
    values_left_out: int = 0


@dataclass(slots=True)
class Exported:
    to: str
    counts: Counts = field(default_factory=Counts)
    warnings: list[str] = field(default_factory=list)

    def to_json(self) -> JsonObject:
        return asdict(self)


def export(session: Session, ids: list[int], uri: str, trial_done: Callable[[], None] = lambda: None) -> Exported:
    """Write the trials of these experiments into a tracking server. Raises DeterminedError."""
    server = MlflowServer(uri, environment.mlflow_token())
    try:
        return _Export(session, server, trial_done, Exported(server.address)).run(ids)
    finally:
        server.close()


@dataclass(slots=True)
class _Export:
    session: Session
    server: MlflowServer
    trial_done: Callable[[], None]
    done: Exported
    _places: dict[int, str] = field(default_factory=dict)  # experiments of MLflow by project

    def run(self, ids: Sequence[int]) -> Exported:
        cluster_id = cluster.master(self.session).cluster_id
        for id_ in ids:
            row = experiment.get(self.session, id_)
            for trial in records.trials(self.session, id_):
                self._trial(row, trial, cluster_id)
                self.trial_done()
            self.done.counts.experiments += 1
        if self.done.counts.values_left_out:
            left_out = self.done.counts.values_left_out
            self.done.warnings.append(f"{left_out} values are no numbers, which MLflow does not take; bundles do")
        return self.done

    def _trial(self, row: Experiment, trial: TrialRecord, cluster_id: str) -> None:
        place = self._place(row)
        own = {TRIAL: str(trial.id), CLUSTER: cluster_id}
        run = self.server.run(place, own)
        if run is None:
            name = row.name if row.num_trials == 1 else f"{row.name} {trial.id}"
            run = self.server.create_run(place, name, _millis(trial.start_time) or 0, {**own, EXPERIMENT: str(row.id)})
            self.done.counts.new_runs += 1
        run_id = str(run["info"]["run_id"])
        self.server.log_params(run_id, mlflow_names.params(trial.hparams))
        self._metrics(run_id, trial, {tag["key"]: tag["value"] for tag in run.get("data", {}).get("tags", [])})
        self.server.log(run_id, tags=_tags(row, trial))
        state = trial.state if trial.state in _STATUS else ""
        self.server.update_run(run_id, _STATUS.get(state, "RUNNING"), _millis(trial.end_time) if state else None)
        self.done.counts.trials += 1

    def _place(self, row: Experiment) -> str:
        if row.project_id not in self._places:
            self._places[row.project_id] = self.server.experiment(f"{row.workspace_name}/{row.project_name}")
        return self._places[row.project_id]

    def _metrics(self, run_id: str, trial: TrialRecord, tags_of_run: Mapping[str, str]) -> None:
        for group in sorted({series.group for series in trial.series}):
            reports = [report for part in records.reports(self.session, [trial.id], group) for report in part]
            self.done.counts.values_left_out += sum(map(mlflow_names.skipped, reports))
            for part, upto in _parts(_left(reports, _sent(tags_of_run, group)), group):
                tags = {} if upto is None else {_sent_tag(group): _progress(reports, upto)}
                self.server.log(run_id, metrics=part, tags=tags)
                self.done.counts.metrics += len(part)


def _left(reports: list[Report], sent: tuple[int, int, int] | None) -> list[Report]:
    """Return what was not sent yet; all of it where what was sent is not what is there now."""
    if not sent:
        return reports
    before = [report for report in reports if (report.run, report.step) <= sent[:2]]
    return reports[len(before) :] if len(before) == sent[2] else reports


def _parts(reports: Sequence[Report], group: str) -> Iterator[tuple[list[JsonObject], Report | None]]:
    """Yield the metrics of whole reports, as many as a request takes, and the last of these reports.

    Of a larger report its pieces come, without a report until the last of them.
    """
    part: list[JsonObject] = []
    last: Report | None = None
    for report in reports:
        metrics = list(mlflow_names.metrics(report, group))
        if part and last is not None and len(part) + len(metrics) > _BATCH:
            yield part, last
            part = []
        part += metrics
        last = report
        while len(part) > _BATCH:
            yield part[:_BATCH], None
            part = part[_BATCH:]
    if part and last is not None:
        yield part, last


def _progress(reports: Sequence[Report], upto: Report) -> str:
    number = sum((report.run, report.step) <= (upto.run, upto.step) for report in reports)
    return msgspec.json.encode((upto.run, upto.step, number)).decode()


def _sent(tags: Mapping[str, str], group: str) -> tuple[int, int, int] | None:
    """Return run, step and number of the last report of a group that was sent."""
    try:
        return msgspec.json.decode(tags[_sent_tag(group)], type=tuple[int, int, int])
    except (KeyError, msgspec.DecodeError):
        return None


def _sent_tag(group: str) -> str:
    """Return the tag with the progress of a group: of its name, or of a hash where MLflow takes no such name."""
    is_plain = _PLAIN.fullmatch(group) and not group.startswith(_HASHED)
    return f"{SENT}.{group if is_plain else _HASHED + hashlib.sha256(group.encode()).hexdigest()}"


def _tags(row: Experiment, trial: TrialRecord) -> dict[str, str]:
    tags = {
        "mlflow.user": row.username,
        "mlflow.note.content": row.notes or row.description or "",
        "determined.experiment_name": row.name,
        "determined.labels": ", ".join(row.labels or []),
        CHECKPOINT: _checkpoint(row, trial) or "",
    }
    return {key: value[: mlflow_names.LONGEST_TAG] for key, value in tags.items() if value}


def _checkpoint(row: Experiment, trial: TrialRecord) -> str | None:
    """Return where the latest checkpoint lies."""
    stored = [one for one in trial.checkpoints if one.state == "COMPLETED"]
    latest = max(stored, key=_age, default=None)
    if latest is None:
        return None
    section = latest.storage or row.config.get("checkpoint_storage") or {}
    return mlflow_names.checkpoint_uri(section, latest.uuid) or latest.uuid


def _age(checkpoint: CheckpointRecord) -> tuple[int, str]:
    return checkpoint.steps_completed, checkpoint.report_time


def _millis(time: str | None) -> int | None:
    return None if time is None else int(datetime.fromisoformat(time).timestamp() * 1000)
