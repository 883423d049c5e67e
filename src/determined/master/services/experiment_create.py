"""Submitting an experiment: read, merge and check the config, resolve what it names, store it in one transaction."""

import asyncio
import random
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config import Prepared, check_sane, dump_yaml, generation, parse_yaml, random_name
from determined.config.engine_sections import engine_options
from determined.config.pipeline import lay_over_template
from determined.errors import FailedPrecondition, InvalidArgument, NotFound
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.db import fetch
from determined.master.db.queries import model_definition, submission
from determined.master.db.queries.submission import ProjectOfExperiment
from determined.master.lifecycle import experiment as lifecycle
from determined.master.lifecycle import search
from determined.master.lifecycle.pools import engine_type
from determined.master.services import (
    config_secrets,
    environment_file,
    experiment_files,
    experiment_layers,
    experiment_view,
    isolation,
    pool,
    start_checkpoint,
    webhook_choice,
)
from determined.master.services import template as templates
from determined.master.services.naming import checked_labels, checked_text
from determined.rundir.context import pack_files
from determined.search.build import require_libraries
from determined.wire.base import LaunchWarning
from determined.wire.codec import rfc3339
from determined.wire.experiment import (
    CreateExperimentRequest,
    CreateExperimentResponse,
    Experiment,
    ExperimentState,
    File,
)

UNCATEGORIZED = 1


@dataclass(frozen=True, slots=True)
class Place:
    """Place of an experiment, and what it starts from."""

    project: ProjectOfExperiment
    parent_id: int | None


async def create(
    ctx: MasterContext, caller: Caller, request: CreateExperimentRequest, *, external_id: str | None = None
) -> CreateExperimentResponse:
    """Create an experiment. Raises InvalidConfig (every violation), NotFound, or FailedPrecondition for archived."""
    async with ctx.config_turns.take(caller.user_id):
        raw = await asyncio.to_thread(read_config, request.config, whole=not request.template)
    now = ctx.clock.now()
    managed = not request.unmanaged
    template = await templates.for_experiment(ctx, request.template)
    layered = await asyncio.to_thread(layer_over, raw, template)
    place = await ctx.db.read(lambda conn: resolve_place(conn, layered, request))
    sent = raw
    raw = await ctx.db.read(lambda conn: config_secrets.of_parent(conn, caller, place.parent_id, sent))
    prepared = await prepare(ctx, place, raw, template, managed=managed, seed=int(now.timestamp()) & 0xFFFFFFFF)
    if managed:
        await asyncio.to_thread(require_libraries, prepared.active["searcher"])
    warnings = await check_resources(ctx, prepared, place.project.workspace_id, caller.user_id) if managed else []
    checkpoint = await ctx.db.read(lambda conn: warm_start(conn, prepared))
    if managed:
        remarks = await check_storage(ctx, prepared, checkpoint)
        prepared = replace(prepared, warnings=prepared.warnings + remarks)
    packed = await _model_definition(ctx, request.model_definition, place.parent_id)
    if managed and not (
        request.validate_only and packed is None
    ):  # nobody needs files to see whether a config is valid
        await asyncio.to_thread(environment_file.require_usable, prepared.config, packed)
    if request.validate_only:
        return _validated(now, caller, place, prepared, warnings)
    new = lifecycle.NewExperiment(
        owner_id=caller.user_id,
        project_id=place.project.id,
        workspace_id=place.project.workspace_id,
        parent_id=place.parent_id,
        config=prepared.config,
        active=prepared.active,
        original_config=request.config or "" if raw is sent else dump_yaml(raw),
        model_definition=packed,
        template=request.template or None,
        generation=generation(prepared.active),
        unmanaged=not managed,
        submitter_python=request.submitter_python,
        warm_start_checkpoint=checkpoint,
        external_id=external_id,
    )
    experiment = await store(ctx, new, activate=bool(request.activate) and managed)
    return CreateExperimentResponse(
        experiment=experiment,
        config=experiment.config,
        warnings=launch_warnings(warnings),
        messages=[*warnings, *prepared.warnings],
    )


async def prepare(
    ctx: MasterContext, place: Place, raw: JsonObject, template: JsonObject | None, *, managed: bool, seed: int
) -> Prepared:
    """Lay a config over its template and over what master, pool and workspace add. Raises InvalidConfig."""
    prepared = await asyncio.to_thread(
        experiment_layers.prepare,
        ctx.config,
        place.project,
        raw,
        managed=managed,
        seed=seed,
        name=random_name(random.Random()),
        template=template,
    )
    remarks = await webhook_choice.remarks(ctx, prepared.config, place.project.workspace_id)
    return replace(prepared, warnings=prepared.warnings + remarks)


async def store(ctx: MasterContext, new: lifecycle.NewExperiment, *, activate: bool) -> Experiment:
    if not new.unmanaged:
        new = replace(new, started=await asyncio.to_thread(search.start, new.active, new.generation))
    now = ctx.clock.now()
    experiment_id = await ctx.db.write(lambda conn: _store(conn, now, new, activate))
    ctx.bus.publish("schedule", f"experiment:{experiment_id}", "experiments")
    # not in the transaction: to mask its secrets the config is parsed once more, while nobody could write
    return await ctx.db.read(lambda conn: experiment_view.one(conn, now, experiment_id))


async def check_resources(ctx: MasterContext, prepared: Prepared, workspace_id: int, owner_id: int) -> list[str]:
    """Refuse whom we must not run, a pool bound to others, and what it can never run.

    With `launch_error: false` the last is one warning. Returns the warnings as text.
    """
    resources = prepared.config.resources
    await experiment_files.require_lasting(ctx, prepared.active)
    await ctx.db.read(lambda conn: isolation.require(conn, ctx.config, owner_id, workspace_id))
    await pool.require_available(ctx, resources.resource_pool, workspace_id)
    return await pool.check_capacity(
        ctx,
        resources.resource_pool,
        resources.slots_per_trial,
        bool(resources.is_single_node),
        engine_options(prepared.config, engine_type(ctx.config, resources.resource_pool)),
    )


def launch_warnings(texts: list[str]) -> list[LaunchWarning]:
    """Return the one code that upstream's clients know for all of them."""
    return [LaunchWarning.CURRENT_SLOTS_EXCEEDED] if texts else []


def read_config(text: str | None, *, whole: bool = True) -> JsonObject:
    """Parse and check a submitted config. `whole`: it has no template under it."""
    if not text or not text.strip():
        raise InvalidArgument("config is empty; send the experiment configuration as YAML text")
    raw = parse_yaml(text)
    check_sane(raw, whole=whole)
    check_names(raw)
    return raw


def layer_over(raw: JsonObject, template: JsonObject | None) -> JsonObject:
    """Lay a checked config over its template: the two together name the project and the pool."""
    if template is None:
        return raw
    layered = lay_over_template(raw, template)
    check_names(layered)
    return layered


def check_names(raw: JsonObject) -> None:
    """Check names, which `det` and others print as they are."""
    if isinstance(raw.get("name"), str):
        checked_text(raw["name"], "name")
    checked_labels([label for label in raw.get("labels") or () if isinstance(label, str)])


def resolve_place(conn: Connection, raw: JsonObject, request: CreateExperimentRequest) -> Place:
    project = _resolve_project(conn, raw, request.project_id)
    if project.archived or project.workspace_archived:
        raise FailedPrecondition(
            f"project {project.name!r} of workspace {project.workspace_name!r} is archived; unarchive it first"
        )
    if request.parent_id is None:
        return Place(project, None)
    parent = submission.parent(conn, request.parent_id)
    if parent is None:
        raise NotFound(f"experiment {request.parent_id} not found; it cannot be forked")
    if parent.project_archived or parent.workspace_archived:
        raise FailedPrecondition(
            f"experiment {request.parent_id} lies in an archived project; unarchive that to fork it"
        )
    if parent.unmanaged and not request.model_definition:
        raise FailedPrecondition(
            f"experiment {request.parent_id} was run outside of the cluster and has no code to fork"
        )
    return Place(project, request.parent_id)


def _resolve_project(conn: Connection, raw: JsonObject, project_id: int | None) -> ProjectOfExperiment:
    workspace, project = raw.get("workspace") or "", raw.get("project") or ""
    if project_id is not None and project_id > UNCATEGORIZED:
        return fetch.existing(submission.project_by_id(conn, project_id), f"project {project_id} not found")
    if bool(workspace) != bool(project):
        raise InvalidArgument("workspace and project must both be given, or neither")
    if not workspace:
        row = submission.project_by_id(conn, UNCATEGORIZED)
    else:
        row = submission.project_by_name(conn, workspace, project)
    if row is None:
        raise NotFound(f"workspace/project {workspace!r}/{project!r} not found; create it or correct the names")
    return row


def warm_start(conn: Connection, prepared: Prepared) -> str | None:
    searcher = prepared.config.searcher
    if searcher.source_trial_id is not None:
        return _latest_of(conn, searcher.source_trial_id)
    uuid = searcher.source_checkpoint_uuid
    if uuid is None:
        return None
    state = submission.checkpoint_state(conn, uuid)
    if state is None:
        raise NotFound(f"searcher.source_checkpoint_uuid: checkpoint {uuid} not found")
    if state != "COMPLETED":
        raise FailedPrecondition(f"searcher.source_checkpoint_uuid: checkpoint {uuid} is {state}; it cannot be used")
    return uuid


async def check_storage(ctx: MasterContext, prepared: Prepared, checkpoint: str | None) -> list[str]:
    """Refuse a warm start from a checkpoint that trials would not find. Returns warnings about the storage."""
    key = "source_checkpoint_uuid" if prepared.config.searcher.source_trial_id is None else "source_trial_id"
    elsewhere = await start_checkpoint.check(ctx, prepared.active, checkpoint, f"searcher.{key}")
    return elsewhere + await experiment_files.unseen_warning(ctx, prepared.active)


def _latest_of(conn: Connection, trial_id: int) -> str:
    if not submission.trial_exists(conn, trial_id):
        raise NotFound(f"searcher.source_trial_id: trial {trial_id} not found")
    latest = submission.latest_checkpoint(conn, trial_id)
    if latest is None:
        raise FailedPrecondition(f"no checkpoint found for source trial {trial_id}; it has no COMPLETED checkpoint")
    return latest


async def _model_definition(ctx: MasterContext, files: list[File] | None, parent_id: int | None) -> bytes | None:
    if files:
        return await asyncio.to_thread(pack_files, files)
    if parent_id is None:
        return None
    return await ctx.db.read(lambda conn: model_definition.get(conn, parent_id))


def _store(conn: Connection, now: datetime, new: lifecycle.NewExperiment, activate: bool) -> int:
    experiment_id = lifecycle.create(conn, now, new)
    if activate:
        lifecycle.activate(conn, now, experiment_id)
    return experiment_id


def _validated(
    now: datetime, caller: Caller, place: Place, prepared: Prepared, warnings: list[str]
) -> CreateExperimentResponse:
    """Return what would have been: nothing was stored."""
    config = experiment_view.masked(prepared.active)
    experiment = Experiment(
        id=0,
        name=prepared.config.name,
        archived=False,
        config=config,
        job_id="",
        num_trials=0,
        original_config="",
        project_id=place.project.id,
        project_owner_id=0,
        searcher_type=prepared.config.searcher.name,
        start_time=rfc3339(now),
        state=ExperimentState.UNSPECIFIED,
        username=caller.username,
    )
    messages = [*warnings, *prepared.warnings]
    return CreateExperimentResponse(
        experiment=experiment, config=config, warnings=launch_warnings(warnings), messages=messages
    )
