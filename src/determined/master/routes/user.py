"""Users and their settings."""

from typing import Annotated, Any

from litestar import Request, Router, get, patch, post
from litestar.params import QueryParameter

from determined.master.auth.identity import Caller
from determined.master.auth.permission import ADMIN, ANY_USER, OWNER, noted
from determined.master.auth.throttle import LoginThrottle
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.routes.params import Limit, Offset
from determined.master.routes.peer import peer_of
from determined.master.services import project as projects
from determined.master.services import session as sessions
from determined.master.services import user as users
from determined.master.services import user_list
from determined.wire.base import OrderBy
from determined.wire.user import (
    GetUserByUsernameResponse,
    GetUserResponse,
    GetUserSettingResponse,
    GetUsersRequestSortBy,
    GetUsersResponse,
    PatchUser,
    PatchUserResponse,
    PatchUsersRequest,
    PatchUsersResponse,
    PostUserActivityRequest,
    PostUserRequest,
    PostUserResponse,
    PostUserSettingRequest,
    SetUserPasswordResponse,
)

AnyRequest = Request[Any, Any, Any]


@get("/api/v1/users", opt=ANY_USER)
async def list_users(
    *,
    ctx: MasterContext,
    limit: Limit = None,
    offset: Offset = None,
    name: str | None = None,
    active: bool | None = None,
    admin: bool | None = None,
    order_by: Annotated[OrderBy | None, QueryParameter(name="orderBy")] = None,
    sort_by: Annotated[GetUsersRequestSortBy | None, QueryParameter(name="sortBy")] = None,
) -> GetUsersResponse:
    rows = await users.list_all(ctx)
    wanted = user_list.UserQuery(name=name, active=active, admin=admin, order_by=order_by, sort_by=sort_by)
    return user_list.answer(rows, wanted, limit, offset)


@post("/api/v1/users", status_code=200, opt=ADMIN)
async def create_user(request: AnyRequest, ctx: MasterContext, caller: Caller) -> PostUserResponse:
    return PostUserResponse(user=await users.create(ctx, caller, await read_body(request, PostUserRequest)))


@patch("/api/v1/users", status_code=200, opt=ADMIN)
async def activate_users(request: AnyRequest, ctx: MasterContext, caller: Caller) -> PatchUsersResponse:
    return await users.activate_many(ctx, caller, await read_body(request, PatchUsersRequest))


@get("/api/v1/users/{user_id:int}", opt=ANY_USER)
async def get_user(ctx: MasterContext, user_id: int) -> GetUserResponse:
    return GetUserResponse(user=await users.get(ctx, user_id))


@get("/api/v1/users/{username:str}/by-username", opt=ANY_USER)
async def get_user_by_name(ctx: MasterContext, username: str) -> GetUserByUsernameResponse:
    return GetUserByUsernameResponse(user=await users.get_by_name(ctx, username))


@patch("/api/v1/users/{user_id:int}", status_code=200, opt=noted(OWNER, "rights and OS user: administrator"))
async def patch_user(
    request: AnyRequest, ctx: MasterContext, caller: Caller, throttle: LoginThrottle, user_id: int
) -> PatchUserResponse:
    asked = await read_body(request, PatchUser)
    await _confirm(request, ctx, caller, throttle, user_id, asked)
    return PatchUserResponse(user=await users.patch(ctx, caller, user_id, asked))


@post("/api/v1/users/{user_id:int}/password", status_code=200, opt=OWNER)
async def set_password(
    request: AnyRequest, ctx: MasterContext, caller: Caller, throttle: LoginThrottle, user_id: int
) -> SetUserPasswordResponse:
    """The body is the plain password as a JSON string. A browser, which must say the old one, uses PATCH."""
    asked = PatchUser(password=await read_body(request, str), is_hashed=False)
    await _confirm(request, ctx, caller, throttle, user_id, asked)
    return SetUserPasswordResponse(user=await users.patch(ctx, caller, user_id, asked))


async def _confirm(
    request: AnyRequest, ctx: MasterContext, caller: Caller, throttle: LoginThrottle, user_id: int, asked: PatchUser
) -> None:
    """Ask for the old password where it must be given."""
    if users.asks_old_password(caller, user_id, asked):
        peer = await peer_of(request)
        await sessions.confirm_password(
            ctx, throttle, caller, asked.old_password, peer, is_hashed=bool(asked.is_hashed)
        )


@get("/api/v1/users/setting", opt=ANY_USER)
async def get_settings(ctx: MasterContext, caller: Caller) -> GetUserSettingResponse:
    return GetUserSettingResponse(settings=await users.settings(ctx, caller))


@post("/api/v1/users/setting", status_code=200, opt=ANY_USER)
async def put_settings(request: AnyRequest, ctx: MasterContext, caller: Caller) -> dict[str, Any]:
    asked = await read_body(request, PostUserSettingRequest)
    await users.put_settings(ctx, caller, asked.settings)
    return {}


@post("/api/v1/users/setting/reset", status_code=200, opt=ANY_USER)
async def reset_settings(ctx: MasterContext, caller: Caller) -> dict[str, Any]:
    await users.reset_settings(ctx, caller)
    return {}


@post("/api/v1/users/activity", status_code=200, opt=ANY_USER)
async def record_activity(request: AnyRequest, ctx: MasterContext, caller: Caller) -> dict[str, Any]:
    asked = await read_body(request, PostUserActivityRequest)
    await projects.record_view(ctx, caller, asked)
    return {}


router = Router(
    path="",
    route_handlers=[
        list_users,
        create_user,
        activate_users,
        get_user,
        get_user_by_name,
        patch_user,
        set_password,
        get_settings,
        put_settings,
        reset_settings,
        record_activity,
    ],
)
