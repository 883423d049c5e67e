"""Experiments: submit, list, show, change, and what belongs to one."""

from typing import Annotated, Any

from litestar import Request, Router, delete, get, patch, post, put
from litestar.params import Parameter

from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER, USER_OR_EXPERIMENT, noted
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.routes.limits import CONFIG_BODY, SUBMIT_BODY
from determined.master.routes.params import Limit, Offset
from determined.master.routes.submit_turns import SubmitTurns
from determined.master.services import (
    checkpoint_gc,
    experiment_continue,
    experiment_create,
    experiment_list,
    experiment_patch,
    model_definition,
    unmanaged,
)
from determined.master.services import experiment as experiments
from determined.master.services.experiment_list import ExperimentQuery
from determined.wire.base import OrderBy
from determined.wire.experiment import (
    ContinueExperimentRequest,
    ContinueExperimentResponse,
    CreateExperimentRequest,
    CreateExperimentResponse,
    DeleteExperimentLabelResponse,
    ExperimentState,
    GetBestSearcherValidationMetricResponse,
    GetExperimentLabelsResponse,
    GetExperimentResponse,
    GetExperimentsRequestSortBy,
    GetExperimentsResponse,
    GetExperimentValidationHistoryResponse,
    GetModelDefFileRequest,
    GetModelDefFileResponse,
    GetModelDefResponse,
    GetModelDefTreeResponse,
    MoveExperimentRequest,
    PatchExperiment,
    PatchExperimentResponse,
    PutExperimentLabelResponse,
    PutExperimentResponse,
    PutExperimentRetainLogsRequest,
    SearchExperimentsRequest,
    SearchExperimentsResponse,
)

AnyRequest = Request[Any, Any, Any]
KeepCount = Annotated[int | None, Parameter(ge=0)]


@post("/api/v1/experiments", status_code=200, request_max_body_size=SUBMIT_BODY, opt=ANY_USER)
async def create_experiment(
    request: AnyRequest, ctx: MasterContext, caller: Caller, submit_turns: SubmitTurns
) -> CreateExperimentResponse:
    async with submit_turns.turn(request, caller):
        asked = await read_body(request, CreateExperimentRequest)
        return await experiment_create.create(ctx, caller, asked)


@put(
    "/api/v1/experiments/by-external-id/{external_id:str}",
    status_code=200,
    request_max_body_size=SUBMIT_BODY,
    opt=noted(USER_OR_EXPERIMENT, "a trial's task: the experiment whose search it drives"),
)
async def put_experiment(
    request: AnyRequest, ctx: MasterContext, caller: Caller, submit_turns: SubmitTurns, external_id: str
) -> PutExperimentResponse:
    async with submit_turns.turn(request, caller):
        asked = await read_body(request, CreateExperimentRequest)
        return await unmanaged.put_experiment(ctx, caller, external_id, asked)


@post(
    "/api/v1/experiments/continue",
    status_code=200,
    request_max_body_size=CONFIG_BODY,
    opt=noted(ANY_USER, "config: owner or administrator"),
)
async def continue_experiment(request: AnyRequest, ctx: MasterContext, caller: Caller) -> ContinueExperimentResponse:
    asked = await read_body(request, ContinueExperimentRequest)
    return await experiment_continue.continue_experiment(ctx, caller, asked)


@get("/api/v1/experiments", opt=ANY_USER)
async def list_experiments(
    ctx: MasterContext,
    limit: Limit = None,
    offset: Offset = None,
    archived: bool | None = None,
    description: str | None = None,
    name: str | None = None,
    labels: list[str] | None = None,
    project_id: Annotated[int | None, Parameter(query="projectId")] = None,
    states: list[ExperimentState] | None = None,
    users: list[str] | None = None,
    user_ids: Annotated[list[int] | None, Parameter(query="userIds")] = None,
    ids_in: Annotated[list[int] | None, Parameter(query="experimentIdFilter.incl")] = None,
    ids_not_in: Annotated[list[int] | None, Parameter(query="experimentIdFilter.notIn")] = None,
    id_gt: Annotated[int | None, Parameter(query="experimentIdFilter.gt")] = None,
    id_gte: Annotated[int | None, Parameter(query="experimentIdFilter.gte")] = None,
    id_lt: Annotated[int | None, Parameter(query="experimentIdFilter.lt")] = None,
    id_lte: Annotated[int | None, Parameter(query="experimentIdFilter.lte")] = None,
    order_by: Annotated[OrderBy | None, Parameter(query="orderBy")] = None,
    sort_by: Annotated[GetExperimentsRequestSortBy | None, Parameter(query="sortBy")] = None,
    show_trial_data: Annotated[bool, Parameter(query="showTrialData")] = False,
) -> GetExperimentsResponse:
    wanted = ExperimentQuery(
        archived=archived,
        description=description,
        name=name,
        labels=labels or (),
        project_id=project_id,
        states=states or (),
        users=users or (),
        user_ids=user_ids or (),
        ids=ids_in,
        not_ids=ids_not_in or (),
        id_gt=id_gt,
        id_gte=id_gte,
        id_lt=id_lt,
        id_lte=id_lte,
        order_by=order_by,
        sort_by=sort_by,
        with_best=show_trial_data,
    )
    return await experiment_list.list_experiments(ctx, wanted, limit, offset)


@post("/api/v1/experiments-search", status_code=200, opt=ANY_USER)
async def search_experiments(request: AnyRequest, ctx: MasterContext) -> SearchExperimentsResponse:
    return await experiment_list.search(ctx, await read_body(request, SearchExperimentsRequest))


@get("/api/v1/experiment/labels", opt=ANY_USER)
async def experiment_labels(
    ctx: MasterContext, project_id: Annotated[int | None, Parameter(query="projectId")] = None
) -> GetExperimentLabelsResponse:
    return GetExperimentLabelsResponse(labels=await experiment_list.labels(ctx, project_id))


@get("/api/v1/experiments/{experiment_id:int}", opt=USER_OR_EXPERIMENT)
async def get_experiment(ctx: MasterContext, experiment_id: int) -> GetExperimentResponse:
    return await experiments.get(ctx, experiment_id)


@patch(
    "/api/v1/experiments/{experiment_id:int}",
    status_code=200,
    opt=noted(ANY_USER, "checkpointStorage: owner or administrator"),
)
async def patch_experiment(
    request: AnyRequest, ctx: MasterContext, caller: Caller, experiment_id: int
) -> PatchExperimentResponse:
    asked = await read_body(request, PatchExperiment)
    return PatchExperimentResponse(experiment=await experiment_patch.patch(ctx, caller, experiment_id, asked))


@delete("/api/v1/experiments/{experiment_id:int}", status_code=200, opt=OWNER)
async def delete_experiment(ctx: MasterContext, caller: Caller, experiment_id: int) -> dict[str, Any]:
    await experiments.delete(ctx, caller, experiment_id)
    return {}


@post("/api/v1/experiments/{experiment_id:int}/move", status_code=200, opt=ANY_USER)
async def move_experiment(request: AnyRequest, ctx: MasterContext, experiment_id: int) -> dict[str, Any]:
    asked = await read_body(request, MoveExperimentRequest)
    await experiments.move(ctx, experiment_id, asked.destination_project_id)
    return {}


@put("/api/v1/experiments/{experiment_id:int}/labels/{label:str}", status_code=200, opt=ANY_USER)
async def add_label(ctx: MasterContext, experiment_id: int, label: str) -> PutExperimentLabelResponse:
    return PutExperimentLabelResponse(labels=await experiments.add_label(ctx, experiment_id, label))


@delete("/api/v1/experiments/{experiment_id:int}/labels/{label:str}", status_code=200, opt=ANY_USER)
async def remove_label(ctx: MasterContext, experiment_id: int, label: str) -> DeleteExperimentLabelResponse:
    return DeleteExperimentLabelResponse(labels=await experiments.remove_label(ctx, experiment_id, label))


@put("/api/v1/experiments/{experiment_id:int}/retain_logs", status_code=200, opt=OWNER)
async def retain_logs(request: AnyRequest, ctx: MasterContext, caller: Caller, experiment_id: int) -> dict[str, Any]:
    asked = await read_body(request, PutExperimentRetainLogsRequest)
    await experiments.retain_logs(ctx, caller, experiment_id, asked.num_days)
    return {}


@delete("/api/v1/experiments/{experiment_id:int}/tensorboard-files", status_code=200, opt=OWNER)
async def delete_tensorboard_files(ctx: MasterContext, caller: Caller, experiment_id: int) -> dict[str, Any]:
    await experiments.delete_tensorboard_files(ctx, caller, experiment_id)
    return {}


@get("/api/v1/experiments/{experiment_id:int}/validation-history", opt=USER_OR_EXPERIMENT)
async def validation_history(ctx: MasterContext, experiment_id: int) -> GetExperimentValidationHistoryResponse:
    found = await experiments.validation_history(ctx, experiment_id)
    return GetExperimentValidationHistoryResponse(validation_history=found)


@get("/api/v1/experiments/{experiment_id:int}/searcher/best_searcher_validation_metric", opt=USER_OR_EXPERIMENT)
async def best_metric(ctx: MasterContext, experiment_id: int) -> GetBestSearcherValidationMetricResponse:
    return GetBestSearcherValidationMetricResponse(metric=await experiments.best_metric(ctx, experiment_id))


@get("/api/v1/experiments/{experiment_id:int}/model_def", opt=ANY_USER)
async def get_model_def(ctx: MasterContext, experiment_id: int) -> GetModelDefResponse:
    return GetModelDefResponse(b64_tgz=await model_definition.archive(ctx, experiment_id))


@get("/api/v1/experiments/{experiment_id:int}/file_tree", opt=ANY_USER)
async def get_model_def_tree(ctx: MasterContext, experiment_id: int) -> GetModelDefTreeResponse:
    return GetModelDefTreeResponse(files=await model_definition.tree(ctx, experiment_id))


@post("/api/v1/experiments/{experiment_id:int}/file", status_code=200, opt=ANY_USER)
async def get_model_def_file(request: AnyRequest, ctx: MasterContext, experiment_id: int) -> GetModelDefFileResponse:
    asked = await read_body(request, GetModelDefFileRequest)
    return GetModelDefFileResponse(file=await model_definition.file(ctx, experiment_id, asked.path or ""))


@get("/experiments/{experiment_id:int}/preview_gc", opt=ANY_USER)
async def preview_gc(
    ctx: MasterContext,
    experiment_id: int,
    save_experiment_best: KeepCount = None,
    save_trial_best: KeepCount = None,
    save_trial_latest: KeepCount = None,
) -> dict[str, Any]:
    return await checkpoint_gc.preview(ctx, experiment_id, save_experiment_best, save_trial_best, save_trial_latest)


router = Router(
    path="",
    route_handlers=[
        create_experiment,
        put_experiment,
        continue_experiment,
        list_experiments,
        search_experiments,
        experiment_labels,
        get_experiment,
        patch_experiment,
        delete_experiment,
        move_experiment,
        add_label,
        remove_label,
        retain_logs,
        delete_tensorboard_files,
        validation_history,
        best_metric,
        get_model_def,
        get_model_def_tree,
        get_model_def_file,
        preview_gc,
    ],
)
