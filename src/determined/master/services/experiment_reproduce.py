"""Running an experiment again as it ran: its config with every default, code, seed, interpreter, resolved packages."""

from sqlalchemy import Connection

from determined.config import ExperimentConfig, Prepared, mask_secrets, masked_places
from determined.errors import FailedPrecondition
from determined.master.auth.identity import Caller, require_owner
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import model_definition
from determined.master.db.rows.experiments import Experiment
from determined.master.lifecycle import experiment as lifecycle
from determined.master.services import experiment_create
from determined.wire.experiment import (
    CreateExperimentRequest,
    CreateExperimentResponse,
    ReproduceExperimentRequest,
)


async def reproduce(
    ctx: MasterContext, caller: Caller, experiment_id: int, request: ReproduceExperimentRequest
) -> CreateExperimentResponse:
    """Anybody may, unless its config holds secrets: those are for its owner and administrators."""
    source = await ctx.db.read(lambda conn: _source(conn, caller, experiment_id))
    where = CreateExperimentRequest(project_id=source.project_id, parent_id=experiment_id)
    place = await ctx.db.read(lambda conn: experiment_create.resolve_place(conn, {}, where))
    config = ExperimentConfig.load(source.config)
    prepared = Prepared(source.config, config, [])
    warnings = await experiment_create.check_resources(ctx, prepared, place.project.workspace_id, caller.user_id)
    packed = await ctx.db.read(lambda conn: model_definition.get(conn, experiment_id))
    new = lifecycle.NewExperiment(
        owner_id=caller.user_id,
        project_id=place.project.id,
        workspace_id=place.project.workspace_id,
        parent_id=experiment_id,
        config=config,
        active=source.config,
        original_config=source.original_config,
        model_definition=packed,
        template=source.template,
        generation=source.generation,
        unmanaged=False,
        submitter_python=source.submitter_python,
        warm_start_checkpoint=source.warm_start_checkpoint,
        locks_of=experiment_id,
    )
    experiment = await experiment_create.store(ctx, new, activate=request.activate is not False)
    return CreateExperimentResponse(
        experiment=experiment,
        config=experiment.config,
        warnings=experiment_create.launch_warnings(warnings),
        messages=warnings,
    )


def _source(conn: Connection, caller: Caller, experiment_id: int) -> Experiment:
    source = experiments.get(conn, experiment_id)
    if source.unmanaged:
        raise FailedPrecondition(
            f"experiment {experiment_id} is unmanaged: its client ran it, and alone can do so again"
        )
    if masked_places(mask_secrets(source.config)):
        require_owner(caller, source.owner_id, f"experiment {experiment_id}, whose config holds secrets,")
    return source
