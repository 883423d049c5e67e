"""A submission that stores nothing: all that is wrong with it and where, what it would cost, when it would start."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from determined._json import JsonObject
from determined.config import Prepared, dump_yaml, parse_yaml
from determined.config.pipeline import from_template
from determined.errors import DeterminedError, InvalidArgument, InvalidConfig
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.lifecycle import cluster as clusters
from determined.master.lifecycle import queue_forecast
from determined.master.services import config_secrets, experiment_create, experiment_view
from determined.master.services import search as searches
from determined.master.services import template as templates
from determined.master.services.config_problems import problems_of
from determined.master.services.experiment_create import Place
from determined.schema.text import check_size
from determined.schema.yaml_lines import lines_of
from determined.search.build import require_libraries
from determined.wire.dry_run import DryRunRequest, DryRunResponse, PlannedTrials, PlannedUnits, Problem, Starts
from determined.wire.experiment import CreateExperimentRequest

T = TypeVar("T")


@dataclass(slots=True)
class _Run:
    """Findings about one submission so far."""

    text: str
    lines: dict[str, int]
    raw: dict[str, Any]
    problems: list[Problem] = field(default_factory=list)
    template: JsonObject | None = None

    async def attempt(self, step: Awaitable[T], at: str) -> T | None:
        """Answer of a step; None where it fails, which is a problem of the value `at` unless it says more itself."""
        try:
            return await step
        except DeterminedError as e:
            self.problems += problems_of(e, at, self.raw, self.lines)
            return None


async def dry_run(ctx: MasterContext, caller: Caller, request: DryRunRequest) -> DryRunResponse:
    """Answer also for a faulty config: its problems are the answer."""
    async with ctx.config_turns.take(caller.user_id):
        run = await asyncio.to_thread(_read, request)
    answer = DryRunResponse(text=run.text, problems=run.problems, submitted=run.raw or None)
    await _read_template(ctx, run, request.template)
    place = None if run.problems else await run.attempt(_place(ctx, run, request), "project")
    prepared = await _prepare(ctx, caller, run, place, request) if place is not None else None
    if prepared is None or place is None:
        return answer
    managed = not request.unmanaged
    await run.attempt(_check_searcher(ctx, prepared, managed=managed), "searcher")
    if managed:
        step = experiment_create.check_resources(ctx, prepared, place.project.workspace_id, caller.user_id)
        await run.attempt(step, "resources.slots_per_trial")
    if not run.problems:
        await _fill(ctx, run, prepared, answer, managed=managed)
    return answer


def _read(request: DryRunRequest) -> _Run:
    try:
        check_size(request.config)
        text = dump_yaml(request.config) if isinstance(request.config, dict) else request.config or ""
    except RecursionError:
        return _Run("", {}, {}, [Problem(path="", message="the config is nested too deeply; flatten it")])
    except InvalidConfig as e:
        return _Run("", {}, {}, [Problem(path="", message=e.message)])
    run = _Run(text, lines_of(text), {})
    try:
        run.raw = parse_yaml(text)
        experiment_create.read_config(text, whole=not request.template)
    except DeterminedError as e:
        run.problems += problems_of(e, "", run.raw, run.lines)
    return run


async def _read_template(ctx: MasterContext, run: _Run, name: str | None) -> None:
    """Read the template that the request names. What is wrong with it is one problem: it has lines of its own."""
    try:
        run.template = await templates.for_experiment(ctx, name)
    except DeterminedError as e:
        run.problems.append(Problem(path="template", message=e.message))


async def _place(ctx: MasterContext, run: _Run, request: DryRunRequest) -> Place:
    where = CreateExperimentRequest(project_id=request.project_id, parent_id=request.parent_id)
    layered = await asyncio.to_thread(experiment_create.layer_over, run.raw, run.template)
    return await ctx.db.read(lambda conn: experiment_create.resolve_place(conn, layered, where))


async def _prepare(
    ctx: MasterContext, caller: Caller, run: _Run, place: Place, request: DryRunRequest
) -> Prepared | None:
    step = ctx.db.read(lambda conn: config_secrets.of_parent(conn, caller, place.parent_id, run.raw))
    raw = await run.attempt(step, "")
    if raw is None:
        return None
    layers = experiment_create.prepare(ctx, place, raw, run.template, managed=not request.unmanaged, seed=0)
    return await run.attempt(layers, "resources.resource_pool")


async def _check_searcher(ctx: MasterContext, prepared: Prepared, *, managed: bool) -> None:
    if managed:
        await asyncio.to_thread(require_libraries, prepared.active["searcher"])
    checkpoint = await ctx.db.read(lambda conn: experiment_create.warm_start(conn, prepared))
    if managed:
        prepared.warnings.extend(await experiment_create.check_storage(ctx, prepared, checkpoint))


async def _fill(ctx: MasterContext, run: _Run, prepared: Prepared, answer: DryRunResponse, *, managed: bool) -> None:
    """Write what follows from a sound config."""
    answer.config = experiment_view.masked(prepared.active)
    if run.template is not None:
        answer.from_template = await asyncio.to_thread(from_template, run.raw, run.template)
    answer.warnings += prepared.warnings
    resources = prepared.config.resources
    answer.slots_per_trial, answer.pool = resources.slots_per_trial, resources.resource_pool
    if not managed:
        return
    await _plan(ctx, run, prepared, answer)
    world = queue_forecast.scheduling_input(clusters.of(ctx.bus), ctx.config)
    now = ctx.clock.now()
    answer.reason = await ctx.db.read(lambda conn: queue_forecast.waits_for(conn, now, world, resources))
    answer.starts = Starts.NOW if answer.reason is None else Starts.WAITS


async def _plan(ctx: MasterContext, run: _Run, prepared: Prepared, answer: DryRunResponse) -> None:
    searcher = prepared.config.searcher
    try:
        summary = await searches.summarize_active(ctx, prepared.active)
    except InvalidConfig as e:
        run.problems += problems_of(e, "searcher", run.raw, run.lines)
        return
    except InvalidArgument as e:  # it can run, but nobody can tell beforehand what it will do
        answer.trials = PlannedTrials(min=None, max=None, exact=False)
        answer.warnings.append(e.message)
        return
    total = summary.total_trials
    answer.trials = PlannedTrials(min=total, max=total, exact=searcher.counts_trials)
    unit = next((group.unit.name for group in summary.trials), None)
    answer.units = PlannedUnits(total=summary.total_units, name=unit, exact=searcher.trains_to_end)
    answer.max_slots = summary.max_slots
