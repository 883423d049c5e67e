"""Aliases of model versions over HTTP."""

from collections.abc import Iterator

from determined.api.paging import pages
from determined.api.session import Session
from determined.wire.model_alias import (
    LIST_MODEL_ALIAS_HISTORY,
    LIST_MODEL_ALIASES,
    PUT_MODEL_ALIAS,
    REMOVE_MODEL_ALIAS,
    ListModelAliasHistory,
    ModelAlias,
    ModelAliasChange,
    PutModelAliasRequest,
)


def listing(session: Session, model: str | int) -> list[ModelAlias]:
    return session.call(LIST_MODEL_ALIASES, model_name=model).aliases


def put(session: Session, model: str | int, alias: str, request: PutModelAliasRequest) -> ModelAlias:
    """Point an alias at a version, wherever it pointed before."""
    return session.call(PUT_MODEL_ALIAS, request, model_name=model, alias=alias).alias


def remove(session: Session, model: str | int, alias: str) -> None:
    session.call(REMOVE_MODEL_ALIAS, model_name=model, alias=alias)


def history(session: Session, model: str | int, params: ListModelAliasHistory) -> Iterator[ModelAliasChange]:
    for page in pages(session, LIST_MODEL_ALIAS_HISTORY, params, model_name=model):
        yield from page.changes
