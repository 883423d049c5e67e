"""Templates."""

from determined._json import JsonObject
from determined.errors import AlreadyExists, FailedPrecondition
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER, noted
from determined.master.context import MasterContext
from determined.master.routes.limits import DRY_RUN_BODY
from determined.master.routes.serve import serve
from determined.master.services import template as templates
from determined.master.services import template_check
from determined.wire.template import (
    CHECK_TEMPLATE,
    CREATE_TEMPLATE,
    DELETE_TEMPLATE,
    GET_TEMPLATE,
    LIST_TEMPLATES,
    PATCH_TEMPLATE_CONFIG,
    PUT_TEMPLATE,
    RENAME_TEMPLATE,
    CheckTemplateRequest,
    CheckTemplateResponse,
    GetTemplatesResponse,
    ListTemplates,
    PatchTemplateNameRequest,
    PostTemplateRequest,
    TemplateResponse,
)


@serve(LIST_TEMPLATES, ANY_USER)
async def list_templates(ctx: MasterContext, params: ListTemplates) -> GetTemplatesResponse:
    shown, pagination = await templates.list_templates(ctx, params)
    return GetTemplatesResponse(templates=shown, pagination=pagination)


@serve(GET_TEMPLATE, ANY_USER)
async def get_template(ctx: MasterContext, template_name: str) -> TemplateResponse:
    return TemplateResponse(template=await templates.get(ctx, template_name))


@serve(CREATE_TEMPLATE, ANY_USER, errors=(AlreadyExists, FailedPrecondition))
async def create_template(
    payload: PostTemplateRequest, ctx: MasterContext, caller: Caller, template_name: str
) -> TemplateResponse:
    return TemplateResponse(template=await templates.create(ctx, caller, template_name, payload))


@serve(PUT_TEMPLATE, noted(OWNER, "a new one: any user"), errors=(FailedPrecondition,))
async def put_template(
    payload: PostTemplateRequest, ctx: MasterContext, caller: Caller, template_name: str
) -> TemplateResponse:
    return TemplateResponse(template=await templates.put(ctx, caller, template_name, payload))


@serve(PATCH_TEMPLATE_CONFIG, OWNER)
async def patch_template_config(
    payload: JsonObject, ctx: MasterContext, caller: Caller, template_name: str
) -> TemplateResponse:
    return TemplateResponse(template=await templates.replace_config(ctx, caller, template_name, payload))


@serve(DELETE_TEMPLATE, OWNER)
async def delete_template(ctx: MasterContext, caller: Caller, template_name: str) -> None:
    await templates.remove(ctx, caller, template_name)


@serve(RENAME_TEMPLATE, OWNER, errors=(AlreadyExists,))
async def rename_template(payload: PatchTemplateNameRequest, ctx: MasterContext, caller: Caller) -> TemplateResponse:
    return TemplateResponse(template=await templates.rename(ctx, caller, payload))


@serve(CHECK_TEMPLATE, ANY_USER, max_body=DRY_RUN_BODY)
async def check_template(payload: CheckTemplateRequest, ctx: MasterContext, caller: Caller) -> CheckTemplateResponse:
    return await template_check.check(ctx, caller, payload)
