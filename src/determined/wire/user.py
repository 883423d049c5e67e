"""Users, logins and sessions."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from determined.wire.base import Ordered, Pagination
from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation
from determined.wire.upstream import Ours


class LoginRequest(Wire):
    password: Annotated[str, Meta(max_length=1024)]
    username: Annotated[str, Meta(max_length=250)]
    is_hashed: bool | None = None


class AgentUserGroup(Wire):
    agent_gid: int | None = None
    agent_group: str | None = None
    agent_uid: int | None = None
    agent_user: str | None = None


class User(Wire):
    active: bool
    admin: bool
    username: str
    agent_user_group: AgentUserGroup | None = None
    display_name: str | None = None
    id: int | None = None
    last_auth_at: str | None = None
    modified_at: str | None = None
    remote: bool | None = None


class LoginResponse(Wire):
    token: str
    user: User


class LoginLinkResponse(Wire):
    """Code with which `/det/login#code=` opens the web page."""

    code: str
    expires_at: str


class RedeemLoginLinkRequest(Wire):
    code: str


class GetMeResponse(Wire):
    user: User


class CurrentUserResponse(Wire):
    user: User


class GetUserResponse(Wire):
    user: User


class GetUserByUsernameResponse(Wire):
    user: User


class GetUsersRequestSortBy(StrEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    DISPLAY_NAME = "SORT_BY_DISPLAY_NAME"
    USER_NAME = "SORT_BY_USER_NAME"
    ADMIN = "SORT_BY_ADMIN"
    ACTIVE = "SORT_BY_ACTIVE"
    MODIFIED_TIME = "SORT_BY_MODIFIED_TIME"
    NAME = "SORT_BY_NAME"
    LAST_AUTH_TIME = "SORT_BY_LAST_AUTH_TIME"
    REMOTE = "SORT_BY_REMOTE"


class GetUsersResponse(Wire):
    pagination: Pagination | None = None
    users: list[User] | None = None


class PostUserRequest(Wire):
    is_hashed: bool | None = None
    password: str | None = None
    user: User | None = None


class PostUserResponse(Wire):
    user: User | None = None


class PatchUser(Wire):
    active: bool | None = None
    admin: bool | None = None
    agent_user_group: AgentUserGroup | None = None
    display_name: str | None = None
    is_hashed: bool | None = None
    old_password: Ours[str | None] = None  # of the user themselves; hashed as the new one is
    password: str | None = None
    remote: bool | None = None
    username: str | None = None


class PatchUserResponse(Wire):
    user: User


class UserFilters(Wire):
    admin: bool | None = None
    name: str | None = None


class PatchUsersRequest(Wire):
    activate: bool
    user_ids: list[int]
    filters: UserFilters | None = None


class UserActionResult(Wire):
    error: str
    id: int


class PatchUsersResponse(Wire):
    results: list[UserActionResult]


class SetUserPasswordResponse(Wire):
    user: User | None = None


class UserWebSetting(Wire):
    key: str
    storage_path: str | None = None
    value: str | None = None


class GetUserSettingResponse(Wire):
    settings: list[UserWebSetting]


class PostUserSettingRequest(Wire):
    settings: Annotated[list[UserWebSetting], Meta(max_length=500)]  # they are written in one transaction


class ActivityType(StrEnum):
    UNSPECIFIED = "ACTIVITY_TYPE_UNSPECIFIED"
    GET = "ACTIVITY_TYPE_GET"


class EntityType(StrEnum):
    UNSPECIFIED = "ENTITY_TYPE_UNSPECIFIED"
    PROJECT = "ENTITY_TYPE_PROJECT"


class PostUserActivityRequest(Wire):
    activity_type: ActivityType
    entity_id: int
    entity_type: EntityType


class ListUsers(Ordered):
    name: Annotated[str | None, Meta(description="Part of the name or of the display name, whatever the case.")] = None
    active: Annotated[bool | None, Meta(description="Only active ones, or only others.")] = None
    admin: Annotated[bool | None, Meta(description="Only administrators, or only others.")] = None
    sort_by: Annotated[GetUsersRequestSortBy | None, Meta(description="What to sort by; the id by default.")] = None


LOGIN = Operation("POST", "/api/v1/auth/login", LoginRequest, LoginResponse)
ISSUE_LOGIN_LINK = Operation("POST", "/api/v1/auth/link", Nothing, LoginLinkResponse, ours=True)
REDEEM_LOGIN_LINK = Operation("POST", "/api/v1/auth/link/redeem", RedeemLoginLinkRequest, LoginResponse, ours=True)
LOGOUT = Operation("POST", "/api/v1/auth/logout", Nothing, Nothing)
GET_ME = Operation("GET", "/api/v1/me", Nothing, GetMeResponse)
GET_CURRENT_USER = Operation("GET", "/api/v1/auth/user", Nothing, CurrentUserResponse)
ACTIVATE_USERS = Operation("PATCH", "/api/v1/users", PatchUsersRequest, PatchUsersResponse)
CREATE_USER = Operation("POST", "/api/v1/users", PostUserRequest, PostUserResponse)
LIST_USERS = Operation("GET", "/api/v1/users", ListUsers, GetUsersResponse)
PATCH_USER = Operation("PATCH", "/api/v1/users/{user_id:int}", PatchUser, PatchUserResponse)
GET_USER = Operation("GET", "/api/v1/users/{user_id:int}", Nothing, GetUserResponse)
GET_USER_BY_NAME = Operation("GET", "/api/v1/users/{username:str}/by-username", Nothing, GetUserByUsernameResponse)
SET_PASSWORD = Operation("POST", "/api/v1/users/{user_id:int}/password", str, SetUserPasswordResponse)
PUT_USER_SETTINGS = Operation("POST", "/api/v1/users/setting", PostUserSettingRequest, Nothing, rpc="PostUserSetting")
GET_USER_SETTINGS = Operation("GET", "/api/v1/users/setting", Nothing, GetUserSettingResponse)
RESET_USER_SETTINGS = Operation("POST", "/api/v1/users/setting/reset", Nothing, Nothing, rpc="ResetUserSetting")
RECORD_USER_ACTIVITY = Operation(
    "POST", "/api/v1/users/activity", PostUserActivityRequest, Nothing, rpc="PostUserActivity"
)
