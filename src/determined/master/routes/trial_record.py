"""Trials in full, for bundles."""

from determined.master.auth.permission import ANY_USER
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import trial_record
from determined.wire.trial_record import LIST_TRIAL_RECORDS, ListTrialRecords, ListTrialRecordsResponse


@serve(LIST_TRIAL_RECORDS, ANY_USER)
async def list_trial_records(
    ctx: MasterContext, experiment_id: int, params: ListTrialRecords
) -> ListTrialRecordsResponse:
    """List trials with their tasks, allocations, series and checkpoints (ours); what `det experiment export` reads."""
    return await trial_record.list_of_experiment(ctx, experiment_id, params)
