"""Facts that the master tells about itself: who it is, its config, and the message everybody sees."""

import logging
from datetime import datetime, timedelta
from typing import Any

from determined._json import JsonObject
from determined._version import __version__
from determined.config import mask_secrets, parse_duration
from determined.constants import API_VERSION
from determined.errors import InvalidArgument
from determined.master.auth import allocation_token
from determined.master.auth.identity import Caller, require_admin
from determined.master.config import MasterConfig
from determined.master.context import MasterContext
from determined.master.db.queries import cluster
from determined.master.lifecycle.identity import can_switch_users, own_addresses
from determined.wire import master_proof
from determined.wire.codec import convert, rfc3339, rfc3339_or_none
from determined.wire.log import LogLevel
from determined.wire.master import (
    ClusterMessage,
    GetMasterResponse,
    GetMasterResponseProduct,
    PatchMasterConfigRequest,
)

_LONGEST_MESSAGE = 250
_LONGEST_CHALLENGE = 256


def describe(ctx: MasterContext, message: ClusterMessage | None) -> GetMasterResponse:
    return GetMasterResponse(
        version=API_VERSION,
        cluster_id=ctx.cluster.cluster_id,
        master_id=ctx.cluster.master_id,
        cluster_name=ctx.config.cluster_name,
        has_custom_logo=False,
        strict_job_queue_control=False,
        rbac_enabled=False,
        branding="determined",
        product=GetMasterResponseProduct.COMMUNITY,
        feature_switches=list(ctx.config.feature_switches),
        sso_providers=[],
        telemetry_enabled=False,
        user_management_enabled=True,
        external_login_uri="",
        external_logout_uri="",
        cluster_message=message,
    )


def info(ctx: MasterContext) -> dict[str, Any]:
    """Return the raw `/info`, which clients read before they log in; its keys are snake_case."""
    return {
        "version": API_VERSION,
        "serverVersion": __version__,
        "master_id": ctx.cluster.master_id,
        "cluster_id": ctx.cluster.cluster_id,
        "cluster_name": ctx.config.cluster_name,
        "telemetry": {"enabled": False},
        "sso_providers": [],
        "branding": "determined",
        "rbac_enabled": False,
        "strict_job_queue_control": False,
        "product": GetMasterResponseProduct.COMMUNITY.value,
        "user_management_enabled": True,
        "user_isolation": can_switch_users(),
    }


def prove(ctx: MasterContext, secret: bytes, challenge: str) -> dict[str, Any]:
    """Show that we hold the secret of the state file without giving it away: another user may squat our port."""
    nonce = _checked_challenge(challenge)
    return master_proof.answer(master_proof.identity_proof(secret, nonce, at) for at in own_addresses(ctx.config))


def prove_to_task(ctx: MasterContext, allocation_id: str, challenge: str) -> dict[str, Any]:
    """Show that we know the token of an allocation, whether or not there is such an allocation now."""
    nonce, token = _checked_challenge(challenge), allocation_token.mint(ctx.cluster.secret, allocation_id)
    return master_proof.answer(master_proof.allocation_proof(token, nonce, at) for at in own_addresses(ctx.config))


def _checked_challenge(challenge: str) -> bytes:
    try:
        given = bytes.fromhex(challenge)
    except ValueError as e:
        raise InvalidArgument(f"challenge={challenge[:80]!r} is not hexadecimal") from e
    if not 16 <= len(given) <= _LONGEST_CHALLENGE:
        raise InvalidArgument(f"the challenge has {len(given)} bytes; send 16 to {_LONGEST_CHALLENGE}")
    return given


def shown_config(ctx: MasterContext, caller: Caller) -> dict[str, Any]:
    require_admin(caller)
    raw = {**ctx.config.raw, "resource_manager": dict(ctx.config.raw.get("resource_manager") or {})}
    raw["resource_manager"].setdefault("type", ctx.config.resource_manager.type)
    raw.setdefault("feature_switches", list(ctx.config.feature_switches))
    return mask_secrets(raw, MasterConfig)


def change_config(caller: Caller, request: PatchMasterConfigRequest) -> None:
    """Change the log level, nothing else while the master runs; a colour is accepted without effect on JSON logs."""
    require_admin(caller)
    paths = set((request.field_mask.paths if request.field_mask else None) or [])
    unknown = sorted(paths - {"log.level", "log.color", "log"})
    if unknown:
        raise InvalidArgument(f"{', '.join(unknown)} cannot change while the master runs; edit its config file")
    level = request.config.log.level if request.config and request.config.log else None
    if level is None or level == LogLevel.UNSPECIFIED:
        return
    name = "DEBUG" if level == LogLevel.TRACE else level.value.removeprefix("LOG_LEVEL_")
    logging.getLogger("determined").setLevel(name)


async def check_database(ctx: MasterContext) -> None:
    await ctx.db.read(lambda conn: cluster.get(conn, cluster.CLUSTER_ID))


async def message(ctx: MasterContext, *, scheduled: bool = False) -> ClusterMessage | None:
    """Return the message shown now; with `scheduled` also one whose time has not come."""
    stored = await ctx.db.read(lambda conn: cluster.get(conn, cluster.MESSAGE))
    if stored is None:
        return None
    current = convert(stored, ClusterMessage)
    now = rfc3339(ctx.clock.now())
    if current.end_time is not None and current.end_time <= now:
        return None
    return current if scheduled or current.start_time <= now else None


async def set_message(
    ctx: MasterContext,
    caller: Caller,
    *,
    text: str,
    start: datetime | None,
    end: datetime | None,
    duration: str | None,
) -> None:
    require_admin(caller)
    now = ctx.clock.now()
    start = start or now
    end = end or (start + timedelta(seconds=_checked_duration(duration)) if duration else None)
    if not text or len(text) > _LONGEST_MESSAGE:
        raise InvalidArgument(f"the message has {len(text)} characters; use 1 to {_LONGEST_MESSAGE}")
    if end is not None and (end <= start or end <= now):
        raise InvalidArgument(f"the message would end at {rfc3339(end)}, which is before it starts or past already")
    value: JsonObject = {
        "message": text,
        "startTime": rfc3339(start),
        "endTime": rfc3339_or_none(end),
        "createdTime": rfc3339(now),
    }
    await ctx.db.write(lambda conn: cluster.put(conn, cluster.MESSAGE, value))


async def clear_message(ctx: MasterContext, caller: Caller) -> None:
    require_admin(caller)
    await ctx.db.write(lambda conn: cluster.remove(conn, cluster.MESSAGE))


def _checked_duration(text: str) -> float:
    seconds = parse_duration(text)
    if not 0 < seconds < 100 * 365 * 86400:
        raise InvalidArgument(f"duration={text!r} is not usable; write something like 2h30m")
    return seconds
