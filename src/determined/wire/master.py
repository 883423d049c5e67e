"""The master itself."""

from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta

from determined._json import JsonObject
from determined.wire.codec import Wire
from determined.wire.log import LogLevel
from determined.wire.operation import Nothing, Operation, Query


class ClusterMessage(Wire):
    message: str
    start_time: str
    created_time: str | None = None
    end_time: str | None = None


class GetMasterResponseProduct(StrEnum):
    __upstream__ = "GetMasterResponseProduct"

    UNSPECIFIED = "PRODUCT_UNSPECIFIED"
    COMMUNITY = "PRODUCT_COMMUNITY"


class SSOProvider(Wire):
    name: str
    sso_url: str
    type: str
    always_redirect: bool | None = None


class GetMasterResponse(Wire):
    cluster_id: str
    cluster_name: str
    has_custom_logo: bool
    master_id: str
    strict_job_queue_control: bool
    version: str
    branding: str | None = None
    cluster_message: ClusterMessage | None = None
    external_login_uri: str | None = None
    external_logout_uri: str | None = None
    feature_switches: list[str] | None = None
    product: GetMasterResponseProduct | None = None
    rbac_enabled: bool | None = None
    sso_providers: list[SSOProvider] | None = None
    telemetry_enabled: bool | None = None
    user_management_enabled: bool | None = None


class GetMasterConfigResponse(Wire):
    config: dict[str, Any]


class LogConfig(Wire):
    color: bool | None = None
    level: LogLevel | None = None


class Config(Wire):
    log: LogConfig | None = None


class ProtobufFieldMask(Wire):
    __upstream__ = "protobufFieldMask"

    paths: list[str] | None = None


class PatchMasterConfigRequest(Wire):
    config: Config | None = None
    field_mask: ProtobufFieldMask | None = None


class GetTelemetryResponse(Wire):
    enabled: bool
    segment_key: str | None = None


class GetClusterMessageResponse(Wire):
    cluster_message: ClusterMessage | None = None


class SetClusterMessageRequest(Wire):
    message: str
    start_time: str
    duration: str | None = None
    end_time: str | None = None


class GetInfo(Query):
    """A proof of who the master is, where one is asked for."""

    challenge: Annotated[str | None, Meta(description="Random bytes in hex, to be part of the proof.")] = None
    allocation: Annotated[str | None, Meta(description="The allocation whose task asks.")] = None


GET_HEALTH = Operation("GET", "/health", Nothing, JsonObject, rpc="health")
GET_INFO = Operation("GET", "/info", GetInfo, JsonObject, ours=True)
GET_MASTER = Operation("GET", "/api/v1/master", Nothing, GetMasterResponse)
GET_TELEMETRY = Operation("GET", "/api/v1/master/telemetry", Nothing, GetTelemetryResponse)
PATCH_MASTER_CONFIG = Operation("PATCH", "/api/v1/master/config", PatchMasterConfigRequest, Nothing)
GET_MASTER_CONFIG = Operation("GET", "/api/v1/master/config", Nothing, GetMasterConfigResponse)
DELETE_CLUSTER_MESSAGE = Operation("DELETE", "/api/v1/master/cluster_message", Nothing, Nothing)
GET_CLUSTER_MESSAGE = Operation("GET", "/api/v1/master/cluster_message", Nothing, GetClusterMessageResponse)
SET_CLUSTER_MESSAGE = Operation("PUT", "/api/v1/master/cluster_message", SetClusterMessageRequest, Nothing)
SUMMARIZE_PERMISSIONS = Operation(
    "GET", "/api/v1/permissions/summary", Nothing, JsonObject, rpc="GetPermissionsSummary"
)
