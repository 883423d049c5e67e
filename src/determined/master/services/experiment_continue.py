"""Continuing an ended experiment under its own id, with or without changes to its config."""

import asyncio
import random

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config import Prepared, canonicalize, check_sane, merge, parse_yaml, random_name, restore_secrets
from determined.config.pipeline import find_warnings
from determined.errors import FailedPrecondition, InvalidArgument, NotFound
from determined.master.auth.identity import Caller, require_owner
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import model_definition, submission
from determined.master.lifecycle import experiment as lifecycle
from determined.master.lifecycle.pools import engine_traits
from determined.master.lifecycle.states import TERMINAL
from determined.master.services import (
    config_secrets,
    environment_file,
    experiment_layers,
    experiment_view,
    start_checkpoint,
)
from determined.master.services.experiment_create import check_resources, launch_warnings
from determined.wire.experiment import ContinueExperimentRequest, ContinueExperimentResponse

_FIXED = ("project", "workspace")


async def continue_experiment(
    ctx: MasterContext, caller: Caller, request: ContinueExperimentRequest
) -> ContinueExperimentResponse:
    """Everybody may continue; only the owner changes what then runs in the owner's name with the owner's secrets."""
    overrides = await asyncio.to_thread(_read_overrides, request.override_config)
    prepared, warnings, remarks = await _prepare(ctx, caller, request.id, overrides) if overrides else (None, [], [])
    if prepared is not None:
        packed = await ctx.db.read(lambda conn: model_definition.get(conn, request.id))
        await asyncio.to_thread(environment_file.require_usable, prepared.config, packed)

    def run(conn: Connection) -> None:
        now = ctx.clock.now()
        active, config = (prepared.active, prepared.config) if prepared else (None, None)
        lifecycle.continue_experiment(conn, now, request.id, active, config)

    await ctx.db.write(run)
    ctx.bus.publish("schedule", f"experiment:{request.id}")
    experiment = await ctx.db.read(lambda conn: experiment_view.one(conn, ctx.clock.now(), request.id))
    messages = [*warnings, *remarks]
    return ContinueExperimentResponse(experiment=experiment, warnings=launch_warnings(warnings), messages=messages)


def _read_overrides(text: str | None) -> JsonObject:
    if not text or not text.strip():
        return {}
    overrides = parse_yaml(text)
    fixed = [key for key in _FIXED if overrides.get(key)]
    if fixed:
        raise InvalidArgument(f"{' and '.join(fixed)} cannot be overridden; move the experiment first")
    check_sane(overrides)
    return overrides


async def _prepare(
    ctx: MasterContext, caller: Caller, experiment_id: int, overrides: JsonObject
) -> tuple[Prepared, list[str], list[str]]:
    """Return the changed config, warnings about its start, and remarks on what the changes ask for in vain."""
    row = await ctx.db.read(lambda conn: experiments.get(conn, experiment_id))
    require_owner(caller, row.owner_id, f"experiment {experiment_id}")
    if row.state not in TERMINAL:
        raise FailedPrecondition(f"experiment {experiment_id} is in non terminal state {row.state}, try again later")
    project = await ctx.db.read(lambda conn: submission.project_by_id(conn, row.project_id))
    if project is None:
        raise NotFound(f"project {row.project_id} not found")
    overrides = config_secrets.require_unmasked(restore_secrets(overrides, row.config))
    merged = merge(canonicalize(overrides), row.config)
    prepared = await asyncio.to_thread(
        experiment_layers.prepare,
        ctx.config,
        project,
        merged,
        managed=True,
        seed=random.getrandbits(31),
        name=random_name(random.Random()),
    )
    warnings = await check_resources(ctx, prepared, project.workspace_id, row.owner_id)
    latest = await ctx.db.read(lambda conn: start_checkpoint.of_continued(conn, row))
    moved = await start_checkpoint.check(ctx, prepared.active, latest, "checkpoint_storage")
    engine = engine_traits(ctx.config, prepared.config.resources.resource_pool)
    return prepared, warnings, moved + find_warnings(overrides, prepared.active, engine)
