"""Login, logout, who am I."""

from typing import Any

from litestar import Request, Response, Router, get, post
from litestar.datastructures import Cookie

from determined.master.auth.guard import PUBLIC
from determined.master.auth.identity import Caller
from determined.master.auth.session_token import SESSION_LIFETIME
from determined.master.auth.throttle import LoginThrottle
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.services import session as sessions
from determined.master.services import user as users
from determined.wire.user import CurrentUserResponse, GetMeResponse, LoginRequest, LoginResponse


@post("/api/v1/auth/login", status_code=200, opt=PUBLIC)
async def login(
    request: Request[Any, Any, Any], ctx: MasterContext, throttle: LoginThrottle
) -> Response[LoginResponse]:
    asked = await read_body(request, LoginRequest)
    answer = await sessions.login(ctx, throttle, asked)
    return Response(answer, cookies=[_cookie(request, answer.token)] if _is_browser(request) else None)


@post("/api/v1/auth/logout", status_code=200)
async def logout(ctx: MasterContext, caller: Caller) -> Response[dict[str, Any]]:
    await sessions.logout(ctx, caller)
    return Response({}, cookies=[Cookie(key="auth", value="", max_age=0, path="/")])


@get("/api/v1/me")
async def me(ctx: MasterContext, caller: Caller) -> GetMeResponse:
    return GetMeResponse(user=await users.get(ctx, caller.user_id))


@get("/api/v1/auth/user")
async def current_user(ctx: MasterContext, caller: Caller) -> CurrentUserResponse:
    return CurrentUserResponse(user=await users.get(ctx, caller.user_id))


def _is_browser(request: Request[Any, Any, Any]) -> bool:
    return "sec-fetch-site" in request.headers


def _cookie(request: Request[Any, Any, Any], token: str) -> Cookie:
    return Cookie(
        key="auth",
        value=token,
        path="/",
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
        max_age=int(SESSION_LIFETIME.total_seconds()),
    )


router = Router(path="", route_handlers=[login, logout, me, current_user])
