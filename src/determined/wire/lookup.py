"""The search box: anything by id or name."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from determined.wire.base import Limit
from determined.wire.codec import Wire
from determined.wire.operation import Operation, Query


class HitKind(StrEnum):
    EXPERIMENT = "experiment"
    TRIAL = "trial"
    PROJECT = "project"
    WORKSPACE = "workspace"
    USER = "user"
    POOL = "pool"
    MODEL = "model"


class Hit(Wire):
    """`id`: a number, of pools their name. `path`: of its page, below the page's own base."""

    kind: HitKind
    id: str
    name: str
    detail: str
    path: str


class LookupResponse(Wire):
    hits: list[Hit]


class LookUp(Query):
    q: Annotated[str, Meta(description="An id, a name or part of one, with a kind before it if wanted: `trial 3`.")] = (
        ""
    )
    limit: Annotated[Limit | None, Meta(description="Hits at most; 20 by default.")] = None


LOOK_UP = Operation("GET", "/api/v1/search", LookUp, LookupResponse, ours=True)
