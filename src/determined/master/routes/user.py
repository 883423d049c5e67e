"""Users and their settings."""

from determined.errors import AlreadyExists, FailedPrecondition
from determined.master.auth.identity import Caller
from determined.master.auth.login_throttle import LoginThrottle
from determined.master.auth.permission import ADMIN, ANY_USER, OWNER, noted
from determined.master.context import MasterContext
from determined.master.routes.peer import peer_of
from determined.master.routes.request import AnyRequest
from determined.master.routes.serve import serve
from determined.master.services import project as projects
from determined.master.services import session as sessions
from determined.master.services import user as users
from determined.master.services import user_list
from determined.wire.user import (
    ACTIVATE_USERS,
    CREATE_USER,
    GET_USER,
    GET_USER_BY_NAME,
    GET_USER_SETTINGS,
    LIST_USERS,
    PATCH_USER,
    PUT_USER_SETTINGS,
    RECORD_USER_ACTIVITY,
    RESET_USER_SETTINGS,
    SET_PASSWORD,
    GetUserByUsernameResponse,
    GetUserResponse,
    GetUserSettingResponse,
    GetUsersResponse,
    ListUsers,
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


@serve(LIST_USERS, ANY_USER)
async def list_users(ctx: MasterContext, params: ListUsers) -> GetUsersResponse:
    return user_list.answer(await users.list_all(ctx), params)


@serve(CREATE_USER, ADMIN, errors=(AlreadyExists,))
async def create_user(payload: PostUserRequest, ctx: MasterContext, caller: Caller) -> PostUserResponse:
    return PostUserResponse(user=await users.create(ctx, caller, payload))


@serve(ACTIVATE_USERS, ADMIN)
async def activate_users(payload: PatchUsersRequest, ctx: MasterContext, caller: Caller) -> PatchUsersResponse:
    return await users.activate_many(ctx, caller, payload)


@serve(GET_USER, ANY_USER)
async def get_user(ctx: MasterContext, user_id: int) -> GetUserResponse:
    return GetUserResponse(user=await users.get(ctx, user_id))


@serve(GET_USER_BY_NAME, ANY_USER)
async def get_user_by_name(ctx: MasterContext, username: str) -> GetUserByUsernameResponse:
    return GetUserByUsernameResponse(user=await users.get_by_name(ctx, username))


@serve(PATCH_USER, noted(OWNER, "rights and OS user: administrator"), errors=(AlreadyExists, FailedPrecondition))
async def patch_user(
    request: AnyRequest, payload: PatchUser, ctx: MasterContext, caller: Caller, throttle: LoginThrottle, user_id: int
) -> PatchUserResponse:
    await _confirm(request, ctx, caller, throttle, user_id, payload)
    return PatchUserResponse(user=await users.patch(ctx, caller, user_id, payload))


@serve(SET_PASSWORD, OWNER)
async def set_password(
    request: AnyRequest, payload: str, ctx: MasterContext, caller: Caller, throttle: LoginThrottle, user_id: int
) -> SetUserPasswordResponse:
    """Set the plain password that the body is, a JSON string. A browser, which must say the old one, uses PATCH."""
    changes = PatchUser(password=payload, is_hashed=False)
    await _confirm(request, ctx, caller, throttle, user_id, changes)
    return SetUserPasswordResponse(user=await users.patch(ctx, caller, user_id, changes))


async def _confirm(
    request: AnyRequest, ctx: MasterContext, caller: Caller, throttle: LoginThrottle, user_id: int, changes: PatchUser
) -> None:
    """Ask for the old password where it must be given."""
    if users.asks_old_password(caller, user_id, changes):
        peer = await peer_of(request)
        await sessions.confirm_password(
            ctx, throttle, caller, changes.old_password, peer, is_hashed=bool(changes.is_hashed)
        )


@serve(GET_USER_SETTINGS, ANY_USER)
async def get_settings(ctx: MasterContext, caller: Caller) -> GetUserSettingResponse:
    return GetUserSettingResponse(settings=await users.settings(ctx, caller))


@serve(PUT_USER_SETTINGS, ANY_USER)
async def put_settings(payload: PostUserSettingRequest, ctx: MasterContext, caller: Caller) -> None:
    await users.put_settings(ctx, caller, payload.settings)


@serve(RESET_USER_SETTINGS, ANY_USER)
async def reset_settings(ctx: MasterContext, caller: Caller) -> None:
    await users.reset_settings(ctx, caller)


@serve(RECORD_USER_ACTIVITY, ANY_USER)
async def record_activity(payload: PostUserActivityRequest, ctx: MasterContext, caller: Caller) -> None:
    await projects.record_view(ctx, caller, payload)
