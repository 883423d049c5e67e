"""Templates over HTTP."""

from collections.abc import Iterator

from determined._json import JsonObject
from determined.api.paging import pages
from determined.api.session import Session
from determined.wire.template import (
    CREATE_TEMPLATE,
    DELETE_TEMPLATE,
    GET_TEMPLATE,
    LIST_TEMPLATES,
    PATCH_TEMPLATE_CONFIG,
    PUT_TEMPLATE,
    RENAME_TEMPLATE,
    ListTemplates,
    PatchTemplateNameRequest,
    PostTemplateRequest,
    Template,
)


def get(session: Session, name: str) -> Template:
    return session.call(GET_TEMPLATE, template_name=name).template


def iterate(session: Session, params: ListTemplates | None = None) -> Iterator[Template]:
    for page in pages(session, LIST_TEMPLATES, params or ListTemplates()):
        yield from page.templates


def create(session: Session, name: str, config: JsonObject, workspace_id: int | None = None) -> Template:
    request = PostTemplateRequest(name=name, config=config, workspace_id=workspace_id)
    return session.call(CREATE_TEMPLATE, request, template_name=name).template


def put(session: Session, name: str, config: JsonObject | None = None, workspace_id: int | None = None) -> Template:
    """Create a template, or change what is given of one that exists."""
    request = PostTemplateRequest(name=name, config=config, workspace_id=workspace_id)
    return session.call(PUT_TEMPLATE, request, template_name=name).template


def replace_config(session: Session, name: str, config: JsonObject) -> Template:
    return session.call(PATCH_TEMPLATE_CONFIG, config, template_name=name).template


def rename(session: Session, name: str, new_name: str) -> Template:
    request = PatchTemplateNameRequest(old_name=name, new_name=new_name)
    return session.call(RENAME_TEMPLATE, request).template


def delete(session: Session, name: str) -> None:
    session.call(DELETE_TEMPLATE, template_name=name)
