"""Models of the registry over HTTP. A model is named by its name or its id."""

from collections.abc import Iterator

from determined.api.paging import pages
from determined.api.session import Session
from determined.wire.model import (
    ARCHIVE_MODEL,
    CREATE_MODEL,
    DELETE_MODEL,
    GET_MODEL,
    LIST_MODEL_LABELS,
    LIST_MODELS,
    PATCH_MODEL,
    UNARCHIVE_MODEL,
    ListModelLabels,
    ListModels,
    Model,
    PatchModel,
    PostModelRequest,
)

_VERBS = {"archive": ARCHIVE_MODEL, "unarchive": UNARCHIVE_MODEL}


def get(session: Session, model: str | int) -> Model:
    return session.call(GET_MODEL, model_name=model).model


def iterate(session: Session, params: ListModels, *, all_pages: bool = True) -> Iterator[Model]:
    for page in pages(session, LIST_MODELS, params, all_pages=all_pages):
        yield from page.models


def create(session: Session, request: PostModelRequest) -> Model:
    return session.call(CREATE_MODEL, request).model


def patch(session: Session, model: str | int, changes: PatchModel) -> Model:
    return session.call(PATCH_MODEL, changes, model_name=model).model


def act(session: Session, model: str | int, verb: str) -> None:
    """Archive or unarchive."""
    session.call(_VERBS[verb], model_name=model)


def delete(session: Session, model: str | int) -> None:
    session.call(DELETE_MODEL, model_name=model)


def labels(session: Session) -> list[str]:
    """List labels of all models, the most used first."""
    return session.call(LIST_MODEL_LABELS, ListModelLabels()).labels
