"""Templates: partial configs that experiments and tasks are laid over."""

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from determined._json import JsonObject
from determined.wire.base import ConfigText, Ordered, Pagination
from determined.wire.codec import Wire
from determined.wire.dry_run import Problem
from determined.wire.operation import Nothing, Operation
from determined.wire.upstream import Ours


class Template(Wire):
    """`config`: without its secrets. `updated_at` and `username`, its owner, are ours."""

    config: JsonObject
    name: str
    workspace_id: int
    updated_at: Ours[str | None] = None
    username: Ours[str | None] = None


class PostTemplateRequest(Wire):
    """`name` is read from the path. `workspace_id`: 0 or none is workspace 1, or stays as it is."""

    config: JsonObject | None = None
    name: str | None = None
    workspace_id: int | None = None


class PatchTemplateNameRequest(Wire):
    new_name: str
    old_name: str


class TemplateResponse(Wire):
    template: Template


class SortTemplatesBy(StrEnum):
    __upstream__ = "v1GetTemplatesRequestSortBy"

    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    NAME = "SORT_BY_NAME"


class ListTemplates(Ordered):
    name: Annotated[str | None, Meta(description="Part of the name, whatever the case.")] = None
    workspace_ids: Annotated[list[int] | None, Meta(description="Only of these workspaces.")] = None
    sort_by: Annotated[SortTemplatesBy | None, Meta(description="Templates are always sorted by name.")] = None


class GetTemplatesResponse(Wire):
    pagination: Pagination
    templates: list[Template]


class CheckTemplateRequest(Wire):
    """`config`: YAML text, or the same as an object, to be written as text."""

    config: ConfigText | JsonObject | None = None


class CheckTemplateResponse(Wire):
    """`text`: the config as YAML. `config`: the same as an object; None where it cannot be read.

    `problems`: what nothing could use. `warnings`: what experiments or tasks will refuse or leave out.
    """

    text: str
    problems: list[Problem]
    warnings: list[str] = msgspec.field(default_factory=list)
    config: JsonObject | None = None


LIST_TEMPLATES = Operation("GET", "/api/v1/templates", ListTemplates, GetTemplatesResponse)
GET_TEMPLATE = Operation("GET", "/api/v1/templates/{template_name:str}", Nothing, TemplateResponse, rpc="GetTemplate")
CREATE_TEMPLATE = Operation(
    "POST",
    "/api/v1/templates/{template_name:str}",
    PostTemplateRequest,
    TemplateResponse,
    rpc="PostTemplate",
    id_names=("template_name",),
)
PUT_TEMPLATE = Operation(
    "PUT",
    "/api/v1/templates/{template_name:str}",
    PostTemplateRequest,
    TemplateResponse,
    rpc="PutTemplate",
    id_names=("template_name",),
)
# The body is the config itself and replaces the former one.
PATCH_TEMPLATE_CONFIG = Operation(
    "PATCH", "/api/v1/templates/{template_name:str}", JsonObject, TemplateResponse, rpc="PatchTemplateConfig"
)
DELETE_TEMPLATE = Operation("DELETE", "/api/v1/templates/{template_name:str}", Nothing, Nothing)
RENAME_TEMPLATE = Operation(
    "PATCH", "/api/v1/template/rename", PatchTemplateNameRequest, TemplateResponse, rpc="PatchTemplateName"
)
# Ours: what is wrong with a template, asked while somebody writes it.
CHECK_TEMPLATE = Operation("POST", "/api/v1/template/check", CheckTemplateRequest, CheckTemplateResponse, ours=True)
