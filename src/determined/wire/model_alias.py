"""Aliases of model versions (`production`, `candidate`), and the history of who moved them when. Ours.

An alias may stand wherever a path has a version's number. It begins with a letter, and has letters, digits, `.`, `_`
and `-`; `latest` is taken.
"""

from typing import Annotated

from msgspec import Meta

from determined.wire.base import Ordered, Pagination
from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation


class ModelAlias(Wire):
    """An alias with the version that it points to, who set it and when."""

    alias: str
    version: int
    user_id: int
    username: str
    set_time: str


class ListModelAliasesResponse(Wire):
    aliases: list[ModelAlias]


class PutModelAliasRequest(Wire):
    """`version`: a number, another alias or `latest`.

    `expected_version`: the number that the alias points to now, 0 for none; with another the request is a conflict.
    """

    version: int | str
    expected_version: int | None = None


class PutModelAliasResponse(Wire):
    alias: ModelAlias


class ModelAliasChange(Wire):
    """A change of an alias. No `version`: it was removed. No `previous_version`: it was new."""

    id: int
    alias: str
    user_id: int
    username: str
    time: str
    version: int | None = None
    previous_version: int | None = None


class ListModelAliasHistory(Ordered):
    alias: Annotated[str | None, Meta(description="Changes of this alias only.")] = None


class ModelAliasHistoryResponse(Wire):
    """Changes in the order of time, also of aliases and versions that are gone."""

    changes: list[ModelAliasChange]
    pagination: Pagination


LIST_MODEL_ALIASES = Operation(
    "GET", "/api/v1/models/{model_name:str}/aliases", Nothing, ListModelAliasesResponse, ours=True
)
PUT_MODEL_ALIAS = Operation(
    "PUT", "/api/v1/models/{model_name:str}/aliases/{alias:str}", PutModelAliasRequest, PutModelAliasResponse, ours=True
)
REMOVE_MODEL_ALIAS = Operation(
    "DELETE", "/api/v1/models/{model_name:str}/aliases/{alias:str}", Nothing, Nothing, ours=True
)
LIST_MODEL_ALIAS_HISTORY = Operation(
    "GET", "/api/v1/models/{model_name:str}/alias-history", ListModelAliasHistory, ModelAliasHistoryResponse, ours=True
)
