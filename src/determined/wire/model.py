"""Models of the registry. Their versions are in model_version.py, aliases of versions in model_alias.py.

`{model_name}` of a path is the exact name, or the id where it is all digits.
"""

from enum import StrEnum
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from determined.wire.base import LongText, Ordered, Pagination
from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation, Query
from determined.wire.upstream import Ours, UpstreamRequired

Label = Annotated[str, Meta(max_length=200)]
Labels = Annotated[list[Label], Meta(max_length=500)]


class Model(Wire):
    """A model. `aliases`: version number by alias."""

    archived: bool
    creation_time: str
    id: int
    last_updated_time: str
    metadata: dict[str, Any]
    name: str
    num_versions: int
    user_id: int
    username: str
    workspace_id: int
    description: str | None = None
    labels: list[str] | None = None
    notes: str | None = None
    workspace_name: Ours[str | None] = None
    aliases: Ours[dict[str, int] | None] = None


class GetModelResponse(Wire):
    model: Model


class GetModelsRequestSortBy(StrEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    NAME = "SORT_BY_NAME"
    DESCRIPTION = "SORT_BY_DESCRIPTION"
    CREATION_TIME = "SORT_BY_CREATION_TIME"
    LAST_UPDATED_TIME = "SORT_BY_LAST_UPDATED_TIME"
    NUM_VERSIONS = "SORT_BY_NUM_VERSIONS"
    WORKSPACE = "SORT_BY_WORKSPACE"


class GetModelsResponse(Wire):
    models: list[Model]
    pagination: Pagination


class GetModelLabelsResponse(Wire):
    labels: list[str]


class PostModelRequest(Wire):
    """Request for a model. Without `workspace_id` and `workspace_name` it is made in workspace 1."""

    name: str
    description: LongText | None = None
    labels: Labels | None = None
    metadata: dict[str, Any] | None = None
    notes: LongText | None = None
    workspace_id: int | None = None
    workspace_name: str | None = None


class PostModelResponse(Wire):
    model: Model


class PatchModel(Wire):
    """An absent field stays, a null too; `metadata` and `labels` are replaced as a whole.

    `expected_notes`: the notes as their author saw them; with others stored the request is a conflict.
    """

    description: LongText | UnsetType | None = UNSET
    labels: Labels | UnsetType | None = UNSET
    metadata: dict[str, Any] | UnsetType | None = UNSET
    name: str | UnsetType | None = UNSET
    notes: LongText | UnsetType | None = UNSET
    expected_notes: Ours[LongText | UnsetType | None] = UNSET
    workspace_id: int | UnsetType | None = UNSET
    workspace_name: str | UnsetType | None = UNSET


class PatchModelResponse(Wire):
    model: Model


class MoveModelRequest(Wire):
    """The name in the path counts; `model_name` is sent by the official client."""

    destination_workspace_id: int
    model_name: UpstreamRequired[str | None] = None


class ListModels(Ordered):
    id: Annotated[int | None, Meta(description="The model with this id.")] = None
    name: Annotated[str | None, Meta(description="Part of the name, whatever the case.")] = None
    description: Annotated[str | None, Meta(description="Part of the description, whatever the case.")] = None
    archived: Annotated[bool | None, Meta(description="Only archived ones, or only others; both by default.")] = None
    labels: Annotated[list[str] | None, Meta(description="With any of these labels.")] = None
    users: Annotated[list[str] | None, Meta(description="Owned by any of these, by name.")] = None
    user_ids: Annotated[list[int] | None, Meta(description="Owned by any of these, by id.")] = None
    workspace_ids: Annotated[list[int] | None, Meta(description="In any of these workspaces, by id.")] = None
    workspace_names: Annotated[
        list[str] | None, Meta(description="In any of these workspaces, by name; not read beside workspaceIds.")
    ] = None
    sort_by: Annotated[GetModelsRequestSortBy | None, Meta(description="What to sort by; the id by default.")] = None


class ListModelLabels(Query):
    workspace_id: Annotated[int | None, Meta(description="Labels of models in this workspace only.")] = None


LIST_MODELS = Operation("GET", "/api/v1/models", ListModels, GetModelsResponse)
CREATE_MODEL = Operation("POST", "/api/v1/models", PostModelRequest, PostModelResponse)
GET_MODEL = Operation("GET", "/api/v1/models/{model_name:str}", Nothing, GetModelResponse)
PATCH_MODEL = Operation("PATCH", "/api/v1/models/{model_name:str}", PatchModel, PatchModelResponse)
DELETE_MODEL = Operation("DELETE", "/api/v1/models/{model_name:str}", Nothing, Nothing)
ARCHIVE_MODEL = Operation("POST", "/api/v1/models/{model_name:str}/archive", Nothing, Nothing)
UNARCHIVE_MODEL = Operation("POST", "/api/v1/models/{model_name:str}/unarchive", Nothing, Nothing)
MOVE_MODEL = Operation("POST", "/api/v1/models/{model_name:str}/move", MoveModelRequest, Nothing)
LIST_MODEL_LABELS = Operation("GET", "/api/v1/model/labels", ListModelLabels, GetModelLabelsResponse)
