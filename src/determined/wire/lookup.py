"""The search box: anything by id or name."""

from enum import StrEnum

from determined.wire.codec import Wire


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
