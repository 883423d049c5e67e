"""Projects and their notes."""

from determined.errors import AlreadyExists, Conflict, FailedPrecondition
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER, noted
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import filter_counts, project_columns
from determined.master.services import project as projects
from determined.wire.project import (
    ADD_PROJECT_NOTE,
    ARCHIVE_PROJECT,
    COUNT_FILTER,
    CREATE_PROJECT,
    DELETE_PROJECT,
    GET_PROJECT,
    GET_PROJECT_BY_KEY,
    LIST_METADATA_VALUES,
    LIST_METRIC_RANGES,
    LIST_PROJECT_COLUMNS,
    LIST_RECENT_PROJECTS,
    MOVE_PROJECT,
    PATCH_PROJECT,
    PUT_PROJECT_NOTES,
    UNARCHIVE_PROJECT,
    AddProjectNoteResponse,
    DeleteProjectResponse,
    FilterCountsRequest,
    FilterCountsResponse,
    GetMetadataValuesResponse,
    GetProjectByKeyResponse,
    GetProjectColumnsResponse,
    GetProjectNumericMetricsRangeResponse,
    GetProjectResponse,
    GetProjectsByUserActivityResponse,
    ListProjectColumns,
    ListRecentProjects,
    MoveProjectRequest,
    Note,
    PatchProject,
    PatchProjectResponse,
    PostProjectRequest,
    PostProjectResponse,
    PutProjectNotesRequest,
    PutProjectNotesResponse,
)


@serve(CREATE_PROJECT, ANY_USER, errors=(AlreadyExists, FailedPrecondition))
async def create_project(
    payload: PostProjectRequest, ctx: MasterContext, caller: Caller, workspace_id: int
) -> PostProjectResponse:
    return PostProjectResponse(project=await projects.create(ctx, caller, workspace_id, payload))


@serve(GET_PROJECT, ANY_USER)
async def get_project(ctx: MasterContext, project_id: int) -> GetProjectResponse:
    return GetProjectResponse(project=await projects.get(ctx, project_id))


@serve(GET_PROJECT_BY_KEY, ANY_USER)
async def get_project_by_key(ctx: MasterContext, key: str) -> GetProjectByKeyResponse:
    return GetProjectByKeyResponse(project=await projects.get_by_key(ctx, key))


@serve(PATCH_PROJECT, noted(OWNER, "or the owner of its workspace"), errors=(AlreadyExists, FailedPrecondition))
async def patch_project(
    payload: PatchProject, ctx: MasterContext, caller: Caller, project_id: int
) -> PatchProjectResponse:
    return PatchProjectResponse(project=await projects.patch(ctx, caller, project_id, payload))


@serve(DELETE_PROJECT, noted(OWNER, "or the owner of its workspace"), errors=(FailedPrecondition,))
async def delete_project(ctx: MasterContext, caller: Caller, project_id: int) -> DeleteProjectResponse:
    return DeleteProjectResponse(completed=await projects.delete(ctx, caller, project_id))


@serve(ARCHIVE_PROJECT, noted(OWNER, "or the owner of its workspace"), errors=(FailedPrecondition,))
async def archive_project(ctx: MasterContext, caller: Caller, project_id: int) -> None:
    await projects.set_archived(ctx, caller, project_id, True)


@serve(UNARCHIVE_PROJECT, noted(OWNER, "or the owner of its workspace"), errors=(FailedPrecondition,))
async def unarchive_project(ctx: MasterContext, caller: Caller, project_id: int) -> None:
    await projects.set_archived(ctx, caller, project_id, False)


@serve(MOVE_PROJECT, noted(OWNER, "or the owner of its workspace"), errors=(FailedPrecondition,))
async def move_project(payload: MoveProjectRequest, ctx: MasterContext, caller: Caller, project_id: int) -> None:
    await projects.move(ctx, caller, project_id, payload.destination_workspace_id)


@serve(ADD_PROJECT_NOTE, ANY_USER)
async def add_note(payload: Note, ctx: MasterContext, project_id: int) -> AddProjectNoteResponse:
    return AddProjectNoteResponse(notes=await projects.add_note(ctx, project_id, payload))


@serve(PUT_PROJECT_NOTES, ANY_USER, errors=(Conflict,))
async def put_notes(payload: PutProjectNotesRequest, ctx: MasterContext, project_id: int) -> PutProjectNotesResponse:
    return PutProjectNotesResponse(notes=await projects.put_notes(ctx, project_id, payload.notes, payload.expected))


@serve(LIST_PROJECT_COLUMNS, ANY_USER)
async def list_columns(ctx: MasterContext, project_id: int, params: ListProjectColumns) -> GetProjectColumnsResponse:
    return await project_columns.list_columns(ctx, project_id, params)


@serve(LIST_METADATA_VALUES, ANY_USER)
async def list_metadata_values(ctx: MasterContext, project_id: int, key: str) -> GetMetadataValuesResponse:
    return GetMetadataValuesResponse(values=await project_columns.metadata_values(ctx, project_id, key))


@serve(COUNT_FILTER, ANY_USER)
async def count_filter(payload: FilterCountsRequest, ctx: MasterContext, project_id: int) -> FilterCountsResponse:
    return await filter_counts.count(ctx, project_id, payload)


@serve(LIST_METRIC_RANGES, ANY_USER)
async def list_metric_ranges(ctx: MasterContext, project_id: int) -> GetProjectNumericMetricsRangeResponse:
    return GetProjectNumericMetricsRangeResponse(ranges=await projects.metric_ranges(ctx, project_id))


@serve(LIST_RECENT_PROJECTS, ANY_USER)
async def list_recent_projects(
    ctx: MasterContext, caller: Caller, params: ListRecentProjects
) -> GetProjectsByUserActivityResponse:
    recent = await projects.recent(ctx, caller, params.limit if params.limit and params.limit > 0 else None)
    return GetProjectsByUserActivityResponse(projects=recent)
