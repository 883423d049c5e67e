"""The search box: anything by id or name, the closest first."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

from sqlalchemy import Connection

from determined.master.context import MasterContext
from determined.master.db.queries import lookup as rows
from determined.master.lifecycle.pools import pools_of
from determined.wire.lookup import Hit, HitKind

DEFAULT_LIMIT = 20
_MOST = 100
_LARGEST_ID = 2**63 - 1
_LONGEST = 1000  # characters; nobody types so many
_WORDS = {
    "e": HitKind.EXPERIMENT, "exp": HitKind.EXPERIMENT, "experiment": HitKind.EXPERIMENT, "search": HitKind.EXPERIMENT,
    "t": HitKind.TRIAL, "trial": HitKind.TRIAL, "run": HitKind.TRIAL,
    "p": HitKind.PROJECT, "project": HitKind.PROJECT,
    "w": HitKind.WORKSPACE, "workspace": HitKind.WORKSPACE,
    "u": HitKind.USER, "user": HitKind.USER,
    "pool": HitKind.POOL,
    "m": HitKind.MODEL, "model": HitKind.MODEL,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wanted:
    """`kind`: that one alone."""

    text: str
    kind: HitKind | None = None

    @property
    def number(self) -> int | None:
        digits = re.fullmatch(r"#?([0-9]{1,19})", self.text)
        return int(digits[1]) if digits and int(digits[1]) <= _LARGEST_ID else None

    def means(self, kind: HitKind) -> bool:
        return self.kind is None or self.kind is kind


async def find(ctx: MasterContext, text: str, limit: int | None) -> list[Hit]:
    """Find what the text names. Blank text, which everything would match, and text too long for a name find nothing."""
    wanted = parse(text) if len(text) <= _LONGEST else []
    if not wanted:
        return []
    most = min(limit or DEFAULT_LIMIT, _MOST)

    def read(conn: Connection) -> list[Hit]:
        found: dict[tuple[str, str], tuple[int, Hit]] = {}
        for reading in wanted:
            for hit in _hits(conn, ctx, reading, most):
                found.setdefault((hit.kind, hit.id), (_distance(hit, reading), hit))
        return [hit for _, hit in sorted(found.values(), key=lambda pair: pair[0])][:most]

    return await ctx.db.read(read)


def parse(text: str) -> list[Wanted]:
    """Return how the text can be read: `t 97`, `t97` and `trial:97` as trial 97, and any text as part of a name."""
    whole = text.strip()
    readings = []
    match = re.fullmatch(r"([a-z]+)[\s:#]+(.*\S)", whole, re.IGNORECASE) or re.fullmatch(r"([et])(\d+)", whole, re.I)
    if match and match[1].lower() in _WORDS:
        readings.append(Wanted(match[2], _WORDS[match[1].lower()]))
    return [*readings, Wanted(whole)] if whole else []


def _hits(conn: Connection, ctx: MasterContext, wanted: Wanted, limit: int) -> Iterator[Hit]:
    """Yield hits of each kind; the order of kinds decides between equally close ones."""
    text, number = wanted.text, wanted.number
    by_kind = {
        HitKind.EXPERIMENT: _experiments(conn, text, number, limit),
        HitKind.TRIAL: _trial(conn, number),
        HitKind.PROJECT: _projects(conn, text, number, limit),
        HitKind.WORKSPACE: _workspaces(conn, text, number, limit),
        HitKind.POOL: _pools(ctx, text),
        HitKind.USER: _users(conn, text, number, limit),
    }
    for kind, hits in by_kind.items():  # generators: nothing is read of a kind that is not wanted
        if wanted.means(kind):
            yield from hits


def _experiments(conn: Connection, text: str, number: int | None, limit: int) -> Iterator[Hit]:
    for row in rows.find_experiments(conn, text, number, limit):
        detail = f"{row.state.lower()} · {row.workspace} / {row.project}"
        yield Hit(kind=HitKind.EXPERIMENT, id=str(row.id), name=row.name, detail=detail, path=f"/experiments/{row.id}")


def _trial(conn: Connection, number: int | None) -> Iterator[Hit]:
    row = rows.find_trial(conn, number) if number is not None else None
    if row is None:
        return
    detail = f"{row.state.lower()} · experiment {row.experiment_id} {row.experiment}"
    path = f"/experiments/{row.experiment_id}/trials/{row.id}"
    yield Hit(kind=HitKind.TRIAL, id=str(row.id), name=f"Trial {row.id}", detail=detail, path=path)


def _projects(conn: Connection, text: str, number: int | None, limit: int) -> Iterator[Hit]:
    for row in rows.find_projects(conn, text, number, limit):
        path = f"/projects/{row.id}"
        yield Hit(kind=HitKind.PROJECT, id=str(row.id), name=row.name, detail=row.workspace, path=path)


def _workspaces(conn: Connection, text: str, number: int | None, limit: int) -> Iterator[Hit]:
    for row in rows.find_workspaces(conn, text, number, limit):
        yield Hit(kind=HitKind.WORKSPACE, id=str(row.id), name=row.name, detail="", path=f"/workspaces/{row.id}")


def _pools(ctx: MasterContext, text: str) -> Iterator[Hit]:
    for name, pool in pools_of(ctx.config).items():
        if text.lower() in name.lower():
            yield Hit(
                kind=HitKind.POOL, id=name, name=name, detail=pool.description, path=f"/resourcepool/{quote(name)}"
            )


def _users(conn: Connection, text: str, number: int | None, limit: int) -> Iterator[Hit]:
    for row in rows.find_users(conn, text, number, limit):
        detail = row.display_name or ""
        yield Hit(kind=HitKind.USER, id=str(row.id), name=row.username, detail=detail, path="/admin/user-management")


def _distance(hit: Hit, wanted: Wanted) -> int:
    """0: named by its kind and id; then by id; the whole name; its beginning; a part of it."""
    name, text = hit.name.lower(), wanted.text.lower()
    if wanted.number is not None and hit.id == str(wanted.number):
        return 0 if wanted.kind else 1 + (hit.kind not in (HitKind.EXPERIMENT, HitKind.TRIAL))
    if name == text:
        return 3
    return 4 if name.startswith(text) else 5
