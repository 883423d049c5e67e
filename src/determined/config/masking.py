"""Secrets out of configs before anybody reads them. Trials still receive the real values."""

from typing import Any

from determined.constants import MASKED

_SECRET_KEYS = {
    "checkpoint_storage": ("access_key", "secret_key", "connection_string", "credential"),
    "tensorboard_storage": ("access_key", "secret_key", "connection_string", "credential"),
    "registry_auth": ("password", "auth", "identitytoken", "registrytoken"),
    "dataset": ("token",),
    "db": ("password", "url"),  # a URL may hold a password
    "telemetry": ("segment_master_key", "segment_webui_key", "otel_exported_otlp_endpoint"),
    "webhooks": ("signing_key",),
    "security": ("initial_user_password",),
}


def mask_secrets(raw: dict[str, Any]) -> dict[str, Any]:
    """A copy of an experiment, job or master config that may be shown. Hyperparameters are never secrets."""
    masked = {key: value if key == "hyperparameters" else _mask(key, value) for key, value in raw.items()}
    data = masked.get("data")
    if isinstance(data, dict) and data.get("secrets") is not None:
        masked["data"] = {**data, "secrets": _mask_all(data["secrets"])}
    return masked


def _mask(section: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_mask(section, item) for item in value]
    if not isinstance(value, dict):
        return value
    secret = _SECRET_KEYS.get(section, ())
    return {key: _mask_all(item) if key in secret else _mask(key, item) for key, item in value.items()}


def _mask_all(value: Any) -> Any:
    """Every leaf hidden; the shape stays, so that a reader still sees which secrets exist."""
    if isinstance(value, dict):
        return {key: _mask_all(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_mask_all(item) for item in value]
    return None if value is None else MASKED
