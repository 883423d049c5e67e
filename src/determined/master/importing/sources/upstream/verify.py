"""Verification: counts of every trial and group, and sampled rows value by value, against the source."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from determined._json import JsonObject, JsonValue
from determined.master.db.queries import import_check, imported
from determined.master.db.queries import metric as metric_rows
from determined.master.db.queries.import_check import Span
from determined.master.importing import kept_ids
from determined.master.importing.compare import same
from determined.master.importing.sources.upstream.log_check import LogCheck
from determined.master.importing.sources.upstream.mapping.metric import values_of
from determined.master.importing.sources.upstream.plan import EXPERIMENTS, PROJECTS, USERS, WORKSPACES, Plan
from determined.master.importing.sources.upstream.reading import checks, metrics, models, system_metrics
from determined.master.importing.sources.upstream.registry_plan import RegistryPlan
from determined.master.importing.sources.upstream.source import Source
from determined.master.importing.sources.upstream.survey import Survey
from determined.master.importing.target import Target

_METRIC_SAMPLES, _TRIAL_SAMPLES, _CHECKPOINT_SAMPLES = 200, 50, 50
_SHOWN = 20  # problems of one kind


@dataclass(frozen=True, slots=True)
class Verification:
    source: Source
    target: Target
    plan: Plan
    registry: RegistryPlan
    survey: Survey
    taken: dict[str, int]  # rows of the source by step
    left_out: dict[tuple[int, str], int]  # metric rows that could not be read, by trial and group

    def problems(self) -> list[str]:
        """Return what differs, for people; nothing where all agrees."""
        sampler = random.Random(self.source.cluster_id)
        logs = LogCheck(self.source, self.target, self.plan.trials, self.survey.log_lines)
        kinds = (
            self._taken(),
            self._missing(),
            self._registered(),
            self._points(),
            self._hidden(),
            self._sampled_metrics(sampler),
            self._sampled_summaries(sampler),
            self._sampled_checkpoints(sampler),
            logs.counts(),
            logs.samples(sampler),
        )
        return [problem for kind in kinds for problem in _some(kind)]

    def _taken(self) -> Iterator[str]:
        """Compare the rows of each step with those of the survey."""
        for step, n in self.survey.totals().items():
            if self.taken.get(step, 0) != n:
                yield f"{step}: {n} in the source, {self.taken.get(step, 0)} taken"

    def _missing(self) -> Iterator[str]:
        """Compare the ids of the plan with those that are here."""
        nouns: tuple[tuple[str, Sequence[int]], ...] = (
            (USERS, self.plan.users),
            (WORKSPACES, self.plan.workspaces),
            (PROJECTS, self.plan.projects),
            (EXPERIMENTS, self.plan.experiments),
            ("trials", self.plan.trials),
            ("models", self.registry.models),
            ("model_versions", self.registry.versions),
            ("webhooks", self.registry.webhooks),
        )
        for table, ids in nouns:
            yield from kept_ids.missing(self.target, table, ids)

    def _registered(self) -> Iterator[str]:
        """Compare templates by name, allocations by number, and versions with the model and checkpoint of each."""
        stored = self.target.read(lambda conn: imported.existing_names(conn, "templates", "name"))
        yield from (f"template {name} is missing" for name in self.registry.templates if name not in stored)
        counted = self.target.read(lambda conn: import_check.allocations(conn, self.plan.trials))
        for trial, n in self.survey.allocations:
            if counted.get(trial, 0) != n:
                yield f"trial {trial}: {n} allocations, {counted.get(trial, 0)} are here"
        versions = self.target.read(lambda conn: import_check.versions(conn, self.registry.versions))
        for row in models.versions(self.source, self.registry.versions):
            expected = (row.model_id, row.version, row.checkpoint_uuid)
            if versions.get(row.id) != expected:
                yield f"model version {row.id}: {expected}, here {versions.get(row.id)}"

    def _points(self) -> Iterator[str]:
        """Compare points, first and last step of every trial and group."""
        spans = self.target.read(lambda conn: import_check.points(conn, self.plan.trials))
        chosen = set(self.plan.trials)
        for trial, group, n, first, last in self._series():
            if trial not in chosen:
                continue
            span = spans.pop((trial, group), (0, 0, 0))
            bad = self.left_out.get((trial, group), 0)
            if not _fits(span, (n, first, last), bad):
                left_out = f", {bad} of them left out" if bad else ""
                yield f"trial {trial}, {group}: {n} points from {first} to {last}{left_out}, stored {span}"
        yield from (f"trial {trial}, {group}: no points, stored {span}" for (trial, group), span in spans.items())

    def _series(self) -> Iterator[tuple[int, str, int, int, int]]:
        """Yield (trial, group, points, first step, last step) of the source. System metrics are numbered from 0 on."""
        for table in metrics.TABLES:
            yield from checks.points(self.source, table)
        if system_metrics.TABLE in self.survey.metric_rows:
            yield from ((trial, group, n, 0, n - 1) for trial, group, n in system_metrics.points(self.source))

    def _hidden(self) -> Iterator[str]:
        """Look for points that a later run hides here and not in the source: archived ones were not taken."""
        for trial, group in self.target.read(lambda conn: import_check.groups_of_several_runs(conn, self.plan.trials)):
            stored, shown = self.target.read(
                lambda conn, trial=trial, group=group: (  # type: ignore[misc]
                    import_check.points(conn, [trial])[trial, group][0],
                    import_check.visible_points(conn, trial, group),
                )
            )
            if stored != shown:
                yield f"trial {trial}, {group}: {stored - shown} of {stored} points are hidden by a later run"

    def _sampled_metrics(self, sampler: random.Random) -> Iterator[str]:
        places = [
            (table, rows) for table in metrics.TABLES for rows in self.survey.metric_rows[table.name] if rows.rows
        ]
        for table, trial in sampler.choices(places, k=_METRIC_SAMPLES) if places else ():
            sample = checks.metric(self.source, table, trial.trial_id, sampler.randrange(trial.rows))
            if sample is not None:
                yield from self._metric(trial.trial_id, sample)

    def _metric(self, trial_id: int, sample: checks.MetricSample) -> Iterator[str]:
        try:
            expected, _ = values_of(sample.metrics)
        except (ValueError, OverflowError):
            return  # counted as left out
        row = self.target.read(
            lambda conn: import_check.point(conn, trial_id, sample.group, sample.run_id, sample.step)
        )
        if row is None or not same(row.metrics, expected) or row.time != sample.time:
            yield f"trial {trial_id}, {sample.group}, step {sample.step}: {expected} is stored as {row}"

    def _sampled_summaries(self, sampler: random.Random) -> Iterator[str]:
        """Compare count, lowest and highest value with upstream's own summaries."""
        trials = _sample(sampler, self.plan.trials, _TRIAL_SAMPLES)
        stored = self.target.read(lambda conn: metric_rows.summary(conn, trials))
        for trial, summaries in checks.summaries(self.source, trials):
            for group, name, theirs in _flat(summaries):
                ours = stored[trial].get(group.replace(".", "_"), {}).get(name, {})
                if theirs.get("type") == ours.get("type") == "number" and _numbers(theirs) != _numbers(ours):
                    yield f"trial {trial}, {group}, {name}: summary {_numbers(theirs)}, here {_numbers(ours)}"

    def _sampled_checkpoints(self, sampler: random.Random) -> Iterator[str]:
        trials = _sample(sampler, self.survey.trials_with_checkpoints, _CHECKPOINT_SAMPLES)
        samples = checks.checkpoints(self.source, trials)
        stored = self.target.read(lambda conn: import_check.checkpoint_sizes(conn, [s.uuid for s in samples]))
        for sample in samples:
            state = "ERROR" if sample.state == "ACTIVE" else sample.state
            if stored.get(sample.uuid) != (state, sample.size, sample.resources or {}):
                yield f"checkpoint {sample.uuid}: {state}, {sample.size} bytes, here {stored.get(sample.uuid)}"


def _fits(stored: Span, expected: Span, bad: int) -> bool:
    """Compare a series with that of the source, of which `bad` points were left out, maybe its first or its last."""
    (n, first, last), (source_n, source_first, source_last) = stored, expected
    if not bad:
        return stored == expected
    return n == source_n - bad and (n == 0 or source_first <= first <= last <= source_last)


def _flat(summaries: object) -> Iterator[tuple[str, str, JsonObject]]:
    """Yield (group, name, summary) of upstream's nested summaries."""
    for group, names in summaries.items() if isinstance(summaries, dict) else ():
        yield from ((group, name, summary) for name, summary in names.items())


def _numbers(summary: dict[str, JsonValue]) -> list[JsonValue]:
    return [summary.get(key) for key in ("count", "min", "max")]


def _sample(sampler: random.Random, ids: Sequence[int], count: int) -> list[int]:
    return sampler.sample(list(ids), min(count, len(ids)))


def _some(problems: Iterator[str]) -> list[str]:
    listed = list(problems)
    more = [f"... and {len(listed) - _SHOWN} more like these"] if len(listed) > _SHOWN else []
    return listed[:_SHOWN] + more
