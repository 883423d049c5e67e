"""Detached mode: experiments and trials whose client runs them itself and tells the master."""

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.errors import AlreadyExists, FailedPrecondition, InvalidArgument, NotFound
from determined.master.auth.identity import Caller, require_owner
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import unmanaged as queries
from determined.master.lifecycle import trial as trial_lifecycle
from determined.master.lifecycle import unmanaged as lifecycle
from determined.master.services import experiment_create, experiment_view, trial_view
from determined.master.services.imported_id import is_of_import
from determined.master.services.naming import checked_text
from determined.master.services.own_trial import check_author
from determined.wire.custom_search import DRIVEN_PREFIX
from determined.wire.experiment import CreateExperimentRequest, PutExperimentResponse
from determined.wire.trial import CreateTrialRequest, PutTrialRequest, StartTrialResponse, Trial


async def put_experiment(
    ctx: MasterContext, caller: Caller, external_id: str, request: CreateExperimentRequest
) -> PutExperimentResponse:
    """Return the experiment of this external id, made on first use, so that a client may ask twice."""
    if caller.kind == "user":
        _check_put(external_id, request)
    existing = await _experiment(ctx, external_id)
    if existing is None:
        try:
            made = await experiment_create.create(ctx, caller, request, external_id=external_id)
            return PutExperimentResponse(experiment=made.experiment, config=made.config, messages=made.messages)
        except AlreadyExists:
            # another worker has asked at the same moment, and was first
            existing = await _experiment(ctx, external_id)
            if existing is None:
                raise
    if request.unmanaged and not existing.experiment.unmanaged:
        raise FailedPrecondition(
            f"experiment {existing.experiment.id} has the external id {external_id!r} and is managed; only unmanaged "
            "experiments are supported here: use another external id"
        )
    return existing


def _check_put(external_id: str, request: CreateExperimentRequest) -> None:
    checked_text(external_id, "external experiment id")
    if external_id.startswith(DRIVEN_PREFIX):
        # somebody who took the name first would keep the trial from submitting its own
        raise InvalidArgument(f"external ids that begin with '{DRIVEN_PREFIX}' are for tasks of trials; use another")
    if is_of_import(external_id):
        # an import finds the runs that it has stored by such ids: it would add to the experiment of a stranger
        raise InvalidArgument(
            f"external ids such as {external_id!r} (twelve hexadecimal digits and a colon) are for imported runs; "
            "use another"
        )
    if request.unmanaged and request.parent_id is not None:
        raise InvalidArgument("an unmanaged experiment cannot be a fork; leave parentId out")


async def _experiment(ctx: MasterContext, external_id: str) -> PutExperimentResponse | None:
    def read(conn: Connection) -> PutExperimentResponse | None:
        experiment_id = queries.experiment_by_external_id(conn, external_id)
        if experiment_id is None:
            return None
        experiment = experiment_view.one(conn, ctx.clock.now(), experiment_id)
        return PutExperimentResponse(experiment=experiment, config=experiment.config)

    return await ctx.db.read(read)


async def create_trial(
    ctx: MasterContext, caller: Caller, request: CreateTrialRequest, external_id: str | None = None
) -> Trial:
    if request.experiment_id is None:
        raise InvalidArgument("experimentId is missing; say which experiment the trial belongs to")
    experiment_id = request.experiment_id
    if request.unmanaged is False:
        raise InvalidArgument("only unmanaged trials are created this way; set unmanaged")

    def run(conn: Connection) -> Trial:
        now = ctx.clock.now()
        owner_id = experiments.get(conn, experiment_id).owner_id
        require_owner(caller, owner_id, f"experiment {experiment_id}")
        trial_id = _known_trial(conn, experiment_id, external_id)
        if trial_id is None:
            hparams: JsonObject = request.hparams or {}
            trial_id = trial_lifecycle.create_unmanaged(conn, now, experiment_id, hparams, external_id)
            lifecycle.created(conn, trial_id)
        return trial_view.one(conn, now, trial_id)

    trial = await ctx.db.write(run)
    _announce(ctx, trial)
    return trial


async def put_trial(ctx: MasterContext, caller: Caller, request: PutTrialRequest) -> Trial:
    """Return the trial of this external id within its experiment, made on first use."""
    if not request.external_trial_id or request.create_trial_request is None:
        raise InvalidArgument("externalTrialId and createTrialRequest are both needed")
    checked_text(request.external_trial_id, "external trial id")
    return await create_trial(ctx, caller, request.create_trial_request, request.external_trial_id)


async def get_trial(ctx: MasterContext, external_experiment_id: str, external_trial_id: str) -> Trial:
    def read(conn: Connection) -> Trial:
        experiment_id = queries.experiment_by_external_id(conn, external_experiment_id)
        if experiment_id is None:
            raise NotFound(f"experiment with external id {external_experiment_id!r} not found")
        trial_id = queries.trial_by_external_id(conn, experiment_id, external_trial_id)
        if trial_id is None:
            raise NotFound(f"trial with external id {external_trial_id!r} not found")
        return trial_view.one(conn, ctx.clock.now(), trial_id)

    return await ctx.db.read(read)


async def start_trial(ctx: MasterContext, caller: Caller, trial_id: int, *, resume: bool) -> StartTrialResponse:
    def run(conn: Connection) -> lifecycle.Started:
        check_author(conn, caller, trial_id)
        return lifecycle.start(conn, ctx.clock.now(), trial_id, resume=resume)

    started = await ctx.db.write(run)
    return StartTrialResponse(
        trial_run_id=started.run_id,
        steps_completed=started.steps_completed,
        latest_checkpoint=started.latest_checkpoint,
    )


async def patch_trial(ctx: MasterContext, caller: Caller, trial_id: int, state: str | None) -> Trial:
    def run(conn: Connection) -> Trial:
        now = ctx.clock.now()
        check_author(conn, caller, trial_id)
        lifecycle.heartbeat(conn, now, trial_id, state)
        return trial_view.one(conn, now, trial_id)

    trial = await ctx.db.write(run)
    _announce(ctx, trial)
    return trial


def _known_trial(conn: Connection, experiment_id: int, external_id: str | None) -> int | None:
    if external_id is None:
        return None
    return queries.trial_by_external_id(conn, experiment_id, external_id)


def _announce(ctx: MasterContext, trial: Trial) -> None:
    ctx.bus.publish(f"trial:{trial.id}", f"experiment:{trial.experiment_id}", "experiments", "gc")
