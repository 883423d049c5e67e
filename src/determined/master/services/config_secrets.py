"""Masks that come back in a submitted config: replaced by the secrets they stand for, where the sender may use them."""

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config import masked_places, parse_yaml, restore_secrets
from determined.constants import MASKED
from determined.errors import InvalidArgument, InvalidConfig
from determined.master.auth.identity import Caller
from determined.master.db.queries import experiment as experiments


def of_parent(conn: Connection, caller: Caller, parent_id: int | None, raw: JsonObject) -> JsonObject:
    """Return a submitted config with the secrets of the experiment it forks; itself where it holds no mask.

    Raises InvalidArgument where masks are left.
    Only the parent's owner and administrators get them: a fork runs the forker's code.
    """
    if parent_id is not None and masked_places(raw):
        parent = experiments.get(conn, parent_id)
        if caller.admin or caller.user_id == parent.owner_id:
            raw = restore_secrets(raw, _parsed(parent.original_config))
            raw = restore_secrets(raw, parent.config)
    return require_unmasked(raw)


def require_unmasked(raw: JsonObject) -> JsonObject:
    places = masked_places(raw)
    if places:
        raise InvalidArgument(f"{', '.join(places)}: the mask {MASKED} is not a secret; write the real value there")
    return raw


def _parsed(text: str) -> JsonObject:
    try:
        return parse_yaml(text)
    except InvalidConfig:
        return {}
