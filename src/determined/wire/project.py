"""Projects and their notes."""

from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta

from determined.wire.base import Limit, LongText
from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation, Query
from determined.wire.upstream import Ours, UpstreamOptional


class Note(Wire):
    contents: LongText
    name: str


class WorkspaceState(StrEnum):
    UNSPECIFIED = "WORKSPACE_STATE_UNSPECIFIED"
    DELETING = "WORKSPACE_STATE_DELETING"
    DELETE_FAILED = "WORKSPACE_STATE_DELETE_FAILED"
    DELETED = "WORKSPACE_STATE_DELETED"


class Project(Wire):
    archived: bool
    error_message: str
    id: int
    immutable: bool
    key: str
    name: str
    notes: list[Note]
    num_active_experiments: int
    num_experiments: int
    num_runs: int
    state: WorkspaceState
    user_id: int
    username: str
    workspace_id: int
    description: str | None = None
    last_experiment_started_at: str | None = None
    workspace_name: str | None = None


class GetProjectResponse(Wire):
    project: Project


class GetProjectByKeyResponse(Wire):
    project: Project


class PatchProject(Wire):
    description: str | None = None
    key: str | None = None
    name: str | None = None


class PatchProjectResponse(Wire):
    project: Project


class DeleteProjectResponse(Wire):
    completed: bool


class PostProjectRequest(Wire):
    name: str
    workspace_id: int
    description: str | None = None
    key: str | None = None


class PostProjectResponse(Wire):
    project: Project


class MoveProjectRequest(Wire):
    destination_workspace_id: int
    project_id: int


class AddProjectNoteResponse(Wire):
    notes: list[Note]


class PutProjectNotesRequest(Wire):
    """`expected`: ours; the pages that the author saw. Others meanwhile are a conflict, not overwritten."""

    notes: list[Note]
    project_id: int
    expected: Ours[list[Note] | None] = None


class PutProjectNotesResponse(Wire):
    notes: list[Note]


class TableType(StrEnum):
    UNSPECIFIED = "TABLE_TYPE_UNSPECIFIED"
    EXPERIMENT = "TABLE_TYPE_EXPERIMENT"
    RUN = "TABLE_TYPE_RUN"


class LocationType(StrEnum):
    UNSPECIFIED = "LOCATION_TYPE_UNSPECIFIED"
    EXPERIMENT = "LOCATION_TYPE_EXPERIMENT"
    HYPERPARAMETERS = "LOCATION_TYPE_HYPERPARAMETERS"
    VALIDATIONS = "LOCATION_TYPE_VALIDATIONS"
    TRAINING = "LOCATION_TYPE_TRAINING"
    CUSTOM_METRIC = "LOCATION_TYPE_CUSTOM_METRIC"
    RUN = "LOCATION_TYPE_RUN"
    RUN_HYPERPARAMETERS = "LOCATION_TYPE_RUN_HYPERPARAMETERS"
    RUN_METADATA = "LOCATION_TYPE_RUN_METADATA"


class ColumnType(StrEnum):
    UNSPECIFIED = "COLUMN_TYPE_UNSPECIFIED"
    TEXT = "COLUMN_TYPE_TEXT"
    NUMBER = "COLUMN_TYPE_NUMBER"
    DATE = "COLUMN_TYPE_DATE"
    ARRAY = "COLUMN_TYPE_ARRAY"


class ProjectColumn(Wire):
    column: str
    location: LocationType
    type: ColumnType
    display_name: str | None = None
    values: Ours[list[Any] | None] = None  # what it holds, where it holds few things and they were asked for
    more_values: Ours[bool | None] = None  # there are others besides `values`


class GetMetadataValuesResponse(Wire):
    values: UpstreamOptional[list[str]]


class GetProjectColumnsResponse(Wire):
    columns: list[ProjectColumn]
    total: Ours[int | None] = None  # how many there are without `limit`


class FilterCountsRequest(Wire):
    """`filter`: as the searches of runs and experiments take it."""

    filter: LongText | None = None
    table_type: TableType | None = None


class ClauseCount(Wire):
    """Number of rows there would be without one condition or group, found by its place: indexes of children."""

    path: list[int]
    count: int
    column: str | None = None
    operator: str | None = None
    value: Any = None


class FilterCountsResponse(Wire):
    """`with_archived`: rows if archived ones were shown too; None where they are."""

    total: int
    clauses: list[ClauseCount]
    with_archived: int | None = None


class MetricsRange(Wire):
    max: float
    metrics_name: str
    min: float


class GetProjectNumericMetricsRangeResponse(Wire):
    ranges: list[MetricsRange] | None = None


class GetProjectsByUserActivityResponse(Wire):
    projects: list[Project] | None = None


class ListProjectColumns(Query):
    table_type: Annotated[TableType | None, Meta(description="Columns of experiments (the default) or of runs.")] = None
    search: Ours[Annotated[str, Meta(description="Part of a name.")]] = ""
    limit: Ours[Annotated[Limit | None, Meta(description="Columns at most; all by default.")]] = None
    values: Ours[Annotated[bool, Meta(description="Also what columns hold, where that can be listed.")]] = False


class ListRecentProjects(Query):
    limit: Annotated[Limit | None, Meta(description="Projects at most.")] = None


CREATE_PROJECT = Operation(
    "POST", "/api/v1/workspaces/{workspace_id:int}/projects", PostProjectRequest, PostProjectResponse
)
DELETE_PROJECT = Operation(
    "DELETE", "/api/v1/projects/{project_id:int}", Nothing, DeleteProjectResponse, id_names=("id",)
)
GET_PROJECT = Operation("GET", "/api/v1/projects/{project_id:int}", Nothing, GetProjectResponse, id_names=("id",))
PATCH_PROJECT = Operation(
    "PATCH", "/api/v1/projects/{project_id:int}", PatchProject, PatchProjectResponse, id_names=("id",)
)
GET_PROJECT_BY_KEY = Operation("GET", "/api/v1/projects/key/{key:str}", Nothing, GetProjectByKeyResponse)
ARCHIVE_PROJECT = Operation("POST", "/api/v1/projects/{project_id:int}/archive", Nothing, Nothing, id_names=("id",))
UNARCHIVE_PROJECT = Operation("POST", "/api/v1/projects/{project_id:int}/unarchive", Nothing, Nothing, id_names=("id",))
MOVE_PROJECT = Operation("POST", "/api/v1/projects/{project_id:int}/move", MoveProjectRequest, Nothing)
PUT_PROJECT_NOTES = Operation(
    "PUT", "/api/v1/projects/{project_id:int}/notes", PutProjectNotesRequest, PutProjectNotesResponse
)
ADD_PROJECT_NOTE = Operation("POST", "/api/v1/projects/{project_id:int}/notes", Note, AddProjectNoteResponse)
LIST_PROJECT_COLUMNS = Operation(
    "GET", "/api/v1/projects/{project_id:int}/columns", ListProjectColumns, GetProjectColumnsResponse, id_names=("id",)
)
LIST_METADATA_VALUES = Operation(
    "GET", "/api/v1/projects/{project_id:int}/metadata/{key:str}", Nothing, GetMetadataValuesResponse
)
COUNT_FILTER = Operation(
    "POST", "/api/v1/projects/{project_id:int}/filter-counts", FilterCountsRequest, FilterCountsResponse, ours=True
)
LIST_METRIC_RANGES = Operation(
    "GET",
    "/api/v1/projects/{project_id:int}/experiments/metric-ranges",
    Nothing,
    GetProjectNumericMetricsRangeResponse,
    id_names=("id",),
)
LIST_RECENT_PROJECTS = Operation(
    "GET", "/api/v1/user/projects/activity", ListRecentProjects, GetProjectsByUserActivityResponse
)
