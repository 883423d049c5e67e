"""Projects and their notes."""

from typing import Annotated, Any

from litestar import Request, Router, delete, get, patch, post, put
from litestar.params import QueryParameter

from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER, noted
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.routes.params import Limit
from determined.master.services import filter_counts, project_columns
from determined.master.services import project as projects
from determined.master.services.project_columns import ColumnQuery
from determined.wire.project import (
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
    MoveProjectRequest,
    Note,
    PatchProject,
    PatchProjectResponse,
    PostProjectRequest,
    PostProjectResponse,
    PutProjectNotesRequest,
    PutProjectNotesResponse,
    TableType,
)

AnyRequest = Request[Any, Any, Any]


@post("/api/v1/workspaces/{workspace_id:int}/projects", status_code=200, opt=ANY_USER)
async def create_project(
    request: AnyRequest, ctx: MasterContext, caller: Caller, workspace_id: int
) -> PostProjectResponse:
    asked = await read_body(request, PostProjectRequest)
    return PostProjectResponse(project=await projects.create(ctx, caller, workspace_id, asked))


@get("/api/v1/projects/{project_id:int}", opt=ANY_USER)
async def get_project(ctx: MasterContext, project_id: int) -> GetProjectResponse:
    return GetProjectResponse(project=await projects.get(ctx, project_id))


@get("/api/v1/projects/key/{key:str}", opt=ANY_USER)
async def get_project_by_key(ctx: MasterContext, key: str) -> GetProjectByKeyResponse:
    return GetProjectByKeyResponse(project=await projects.get_by_key(ctx, key))


@patch("/api/v1/projects/{project_id:int}", status_code=200, opt=noted(OWNER, "or the owner of its workspace"))
async def patch_project(
    request: AnyRequest, ctx: MasterContext, caller: Caller, project_id: int
) -> PatchProjectResponse:
    asked = await read_body(request, PatchProject)
    return PatchProjectResponse(project=await projects.patch(ctx, caller, project_id, asked))


@delete("/api/v1/projects/{project_id:int}", status_code=200, opt=noted(OWNER, "or the owner of its workspace"))
async def delete_project(ctx: MasterContext, caller: Caller, project_id: int) -> DeleteProjectResponse:
    return DeleteProjectResponse(completed=await projects.delete(ctx, caller, project_id))


@post("/api/v1/projects/{project_id:int}/archive", status_code=200, opt=noted(OWNER, "or the owner of its workspace"))
async def archive_project(ctx: MasterContext, caller: Caller, project_id: int) -> dict[str, Any]:
    await projects.set_archived(ctx, caller, project_id, True)
    return {}


@post("/api/v1/projects/{project_id:int}/unarchive", status_code=200, opt=noted(OWNER, "or the owner of its workspace"))
async def unarchive_project(ctx: MasterContext, caller: Caller, project_id: int) -> dict[str, Any]:
    await projects.set_archived(ctx, caller, project_id, False)
    return {}


@post("/api/v1/projects/{project_id:int}/move", status_code=200, opt=noted(OWNER, "or the owner of its workspace"))
async def move_project(request: AnyRequest, ctx: MasterContext, caller: Caller, project_id: int) -> dict[str, Any]:
    asked = await read_body(request, MoveProjectRequest)
    await projects.move(ctx, caller, project_id, asked.destination_workspace_id)
    return {}


@post("/api/v1/projects/{project_id:int}/notes", status_code=200, opt=ANY_USER)
async def add_note(request: AnyRequest, ctx: MasterContext, project_id: int) -> AddProjectNoteResponse:
    note = await read_body(request, Note)
    return AddProjectNoteResponse(notes=await projects.add_note(ctx, project_id, note))


@put("/api/v1/projects/{project_id:int}/notes", status_code=200, opt=ANY_USER)
async def put_notes(request: AnyRequest, ctx: MasterContext, project_id: int) -> PutProjectNotesResponse:
    asked = await read_body(request, PutProjectNotesRequest)
    return PutProjectNotesResponse(notes=await projects.put_notes(ctx, project_id, asked.notes, asked.expected))


@get("/api/v1/projects/{project_id:int}/columns", opt=ANY_USER)
async def list_columns(
    ctx: MasterContext,
    project_id: int,
    table_type: Annotated[TableType | None, QueryParameter(name="tableType")] = None,
    search: str = "",
    limit: Limit = None,
    values: bool = False,
) -> GetProjectColumnsResponse:
    wanted = ColumnQuery(table_type, search, limit if limit and limit > 0 else None, values)
    return await project_columns.list_columns(ctx, project_id, wanted)


@get("/api/v1/projects/{project_id:int}/metadata/{key:str}", opt=ANY_USER)
async def list_metadata_values(ctx: MasterContext, project_id: int, key: str) -> GetMetadataValuesResponse:
    return GetMetadataValuesResponse(values=await project_columns.metadata_values(ctx, project_id, key))


@post("/api/v1/projects/{project_id:int}/filter-counts", status_code=200, opt=ANY_USER)
async def count_filter(request: AnyRequest, ctx: MasterContext, project_id: int) -> FilterCountsResponse:
    return await filter_counts.count(ctx, project_id, await read_body(request, FilterCountsRequest))


@get("/api/v1/projects/{project_id:int}/experiments/metric-ranges", opt=ANY_USER)
async def list_metric_ranges(ctx: MasterContext, project_id: int) -> GetProjectNumericMetricsRangeResponse:
    return GetProjectNumericMetricsRangeResponse(ranges=await projects.metric_ranges(ctx, project_id))


@get("/api/v1/user/projects/activity", opt=ANY_USER)
async def list_recent_projects(
    ctx: MasterContext, caller: Caller, limit: Limit = None
) -> GetProjectsByUserActivityResponse:
    recent = await projects.recent(ctx, caller, limit if limit and limit > 0 else None)
    return GetProjectsByUserActivityResponse(projects=recent)


router = Router(
    path="",
    route_handlers=[
        create_project,
        get_project,
        get_project_by_key,
        patch_project,
        delete_project,
        archive_project,
        unarchive_project,
        move_project,
        add_note,
        put_notes,
        list_columns,
        list_metadata_values,
        count_filter,
        list_metric_ranges,
        list_recent_projects,
    ],
)
