"""Experiments: submit, list, show, change, and what belongs to one."""

from determined._json import JsonObject
from determined.errors import Conflict, FailedPrecondition
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER, USER_OR_EXPERIMENT, noted
from determined.master.context import MasterContext
from determined.master.routes.limits import CONFIG_BODY, SUBMIT_BODY
from determined.master.routes.request import AnyRequest
from determined.master.routes.serve import serve
from determined.master.routes.submit_turns import SubmitTurns
from determined.master.services import (
    checkpoint_gc_preview,
    experiment_continue,
    experiment_create,
    experiment_list,
    experiment_patch,
    model_definition,
    unmanaged,
)
from determined.master.services import experiment as experiments
from determined.wire.checkpoint import PREVIEW_CHECKPOINT_GC, PreviewCheckpointGC
from determined.wire.experiment import (
    ADD_EXPERIMENT_LABEL,
    CONTINUE_EXPERIMENT,
    CREATE_EXPERIMENT,
    DELETE_EXPERIMENT,
    DELETE_TENSORBOARD_FILES,
    GET_BEST_SEARCHER_METRIC,
    GET_EXPERIMENT,
    GET_VALIDATION_HISTORY,
    LIST_EXPERIMENT_LABELS,
    LIST_EXPERIMENTS,
    MOVE_EXPERIMENT,
    PATCH_EXPERIMENT,
    PUT_EXPERIMENT,
    REMOVE_EXPERIMENT_LABEL,
    RETAIN_EXPERIMENT_LOGS,
    SEARCH_EXPERIMENTS,
    ContinueExperimentRequest,
    ContinueExperimentResponse,
    CreateExperimentRequest,
    CreateExperimentResponse,
    DeleteExperimentLabelResponse,
    GetBestSearcherValidationMetricResponse,
    GetExperimentLabelsResponse,
    GetExperimentResponse,
    GetExperimentsResponse,
    GetExperimentValidationHistoryResponse,
    ListExperimentLabels,
    ListExperiments,
    MoveExperimentRequest,
    PatchExperiment,
    PatchExperimentResponse,
    PutExperimentLabelResponse,
    PutExperimentResponse,
    PutExperimentRetainLogsRequest,
    SearchExperimentsRequest,
    SearchExperimentsResponse,
)
from determined.wire.model_definition import (
    GET_MODEL_DEFINITION,
    GET_MODEL_DEFINITION_FILE,
    GET_MODEL_DEFINITION_TREE,
    GetModelDefFileRequest,
    GetModelDefFileResponse,
    GetModelDefResponse,
    GetModelDefTreeResponse,
)


@serve(CREATE_EXPERIMENT, ANY_USER, max_body=SUBMIT_BODY, errors=(FailedPrecondition,))
async def create_experiment(
    request: AnyRequest, ctx: MasterContext, caller: Caller, submit_turns: SubmitTurns
) -> CreateExperimentResponse:
    async with submit_turns.body(request, caller, CreateExperimentRequest) as payload:
        return await experiment_create.create(ctx, caller, payload)


@serve(
    PUT_EXPERIMENT,
    noted(USER_OR_EXPERIMENT, "a trial's task: the experiment whose search it drives"),
    max_body=SUBMIT_BODY,
    errors=(FailedPrecondition,),
)
async def put_experiment(
    request: AnyRequest, ctx: MasterContext, caller: Caller, submit_turns: SubmitTurns, external_id: str
) -> PutExperimentResponse:
    async with submit_turns.body(request, caller, CreateExperimentRequest) as payload:
        return await unmanaged.put_experiment(ctx, caller, external_id, payload)


@serve(
    CONTINUE_EXPERIMENT,
    noted(ANY_USER, "config: owner or administrator"),
    max_body=CONFIG_BODY,
    errors=(FailedPrecondition,),
)
async def continue_experiment(
    payload: ContinueExperimentRequest, ctx: MasterContext, caller: Caller
) -> ContinueExperimentResponse:
    return await experiment_continue.continue_experiment(ctx, caller, payload)


@serve(LIST_EXPERIMENTS, ANY_USER)
async def list_experiments(ctx: MasterContext, params: ListExperiments) -> GetExperimentsResponse:
    return await experiment_list.list_experiments(ctx, params)


@serve(SEARCH_EXPERIMENTS, ANY_USER)
async def search_experiments(payload: SearchExperimentsRequest, ctx: MasterContext) -> SearchExperimentsResponse:
    return await experiment_list.search(ctx, payload)


@serve(LIST_EXPERIMENT_LABELS, ANY_USER)
async def experiment_labels(ctx: MasterContext, params: ListExperimentLabels) -> GetExperimentLabelsResponse:
    return GetExperimentLabelsResponse(labels=await experiment_list.labels(ctx, params.project_id))


@serve(GET_EXPERIMENT, USER_OR_EXPERIMENT)
async def get_experiment(ctx: MasterContext, experiment_id: int) -> GetExperimentResponse:
    return await experiments.get(ctx, experiment_id)


@serve(
    PATCH_EXPERIMENT,
    noted(ANY_USER, "checkpointStorage: owner or administrator"),
    errors=(Conflict, FailedPrecondition),
)
async def patch_experiment(
    payload: PatchExperiment, ctx: MasterContext, caller: Caller, experiment_id: int
) -> PatchExperimentResponse:
    return PatchExperimentResponse(experiment=await experiment_patch.patch(ctx, caller, experiment_id, payload))


@serve(DELETE_EXPERIMENT, OWNER)
async def delete_experiment(ctx: MasterContext, caller: Caller, experiment_id: int) -> None:
    await experiments.delete(ctx, caller, experiment_id)


@serve(MOVE_EXPERIMENT, ANY_USER, errors=(FailedPrecondition,))
async def move_experiment(payload: MoveExperimentRequest, ctx: MasterContext, experiment_id: int) -> None:
    await experiments.move(ctx, experiment_id, payload.destination_project_id)


@serve(ADD_EXPERIMENT_LABEL, ANY_USER)
async def add_label(ctx: MasterContext, experiment_id: int, label: str) -> PutExperimentLabelResponse:
    return PutExperimentLabelResponse(labels=await experiments.add_label(ctx, experiment_id, label))


@serve(REMOVE_EXPERIMENT_LABEL, ANY_USER)
async def remove_label(ctx: MasterContext, experiment_id: int, label: str) -> DeleteExperimentLabelResponse:
    return DeleteExperimentLabelResponse(labels=await experiments.remove_label(ctx, experiment_id, label))


@serve(RETAIN_EXPERIMENT_LOGS, OWNER)
async def retain_logs(
    payload: PutExperimentRetainLogsRequest, ctx: MasterContext, caller: Caller, experiment_id: int
) -> None:
    await experiments.retain_logs(ctx, caller, experiment_id, payload.num_days)


@serve(DELETE_TENSORBOARD_FILES, OWNER)
async def delete_tensorboard_files(ctx: MasterContext, caller: Caller, experiment_id: int) -> None:
    await experiments.delete_tensorboard_files(ctx, caller, experiment_id)


@serve(GET_VALIDATION_HISTORY, USER_OR_EXPERIMENT)
async def validation_history(ctx: MasterContext, experiment_id: int) -> GetExperimentValidationHistoryResponse:
    history = await experiments.validation_history(ctx, experiment_id)
    return GetExperimentValidationHistoryResponse(validation_history=history)


@serve(GET_BEST_SEARCHER_METRIC, USER_OR_EXPERIMENT)
async def best_metric(ctx: MasterContext, experiment_id: int) -> GetBestSearcherValidationMetricResponse:
    return GetBestSearcherValidationMetricResponse(metric=await experiments.best_metric(ctx, experiment_id))


@serve(GET_MODEL_DEFINITION, ANY_USER)
async def get_model_def(ctx: MasterContext, experiment_id: int) -> GetModelDefResponse:
    return GetModelDefResponse(b64_tgz=await model_definition.archive(ctx, experiment_id))


@serve(GET_MODEL_DEFINITION_TREE, ANY_USER)
async def get_model_def_tree(ctx: MasterContext, experiment_id: int) -> GetModelDefTreeResponse:
    return GetModelDefTreeResponse(files=await model_definition.tree(ctx, experiment_id))


@serve(GET_MODEL_DEFINITION_FILE, ANY_USER)
async def get_model_def_file(
    payload: GetModelDefFileRequest, ctx: MasterContext, experiment_id: int
) -> GetModelDefFileResponse:
    return GetModelDefFileResponse(file=await model_definition.file(ctx, experiment_id, payload.path or ""))


@serve(PREVIEW_CHECKPOINT_GC, ANY_USER)
async def preview_gc(ctx: MasterContext, experiment_id: int, params: PreviewCheckpointGC) -> JsonObject:
    return await checkpoint_gc_preview.preview(ctx, experiment_id, params)
