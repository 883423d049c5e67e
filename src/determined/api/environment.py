"""The process environment as the HTTP client reads it; the only file of this room that does."""

import os
from pathlib import Path

from determined import constants


def master() -> str | None:
    return os.environ.get(constants.ENV_MASTER) or os.environ.get(constants.ENV_MASTER_ADDR) or None


def credentials() -> tuple[str, str] | None:
    """DET_USER counts only beside DET_PASS: every task has DET_USER set, and it must not win over the active user."""
    user, password = os.environ.get(constants.ENV_USER), os.environ.get(constants.ENV_PASS)
    if user is None or password is None:
        return None
    return user, password


def task_user_token() -> tuple[str, str] | None:
    user, token = os.environ.get(constants.ENV_USER), os.environ.get(constants.ENV_USER_TOKEN)
    if not user or not token:
        return None
    return user, token


def task_claim() -> tuple[str, str, str] | None:
    """(master, allocation, token) of the task that this process belongs to; its master can prove itself by them."""
    names = (constants.ENV_MASTER, constants.ENV_ALLOCATION_ID, constants.ENV_SESSION_TOKEN)
    master, allocation, token = (os.environ.get(name) for name in names)
    return (master, allocation, token) if master and allocation and token else None


def cert_file() -> str | None:
    return os.environ.get(constants.ENV_MASTER_CERT_FILE) or None


def cert_name() -> str | None:
    return os.environ.get(constants.ENV_MASTER_CERT_NAME) or None


def retry_config() -> str | None:
    return os.environ.get(constants.ENV_RETRY_CONFIG) or None


def is_debugging() -> bool:
    return os.environ.get(constants.ENV_DEBUG, "").lower() in ("true", "1", "yes")


def config_dir() -> Path:
    override = os.environ.get(constants.ENV_DEBUG_CONFIG_PATH)
    if override:
        return Path(override)
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "determined"


def state_dir() -> Path:
    """Return where masters started by this user keep their state."""
    override = os.environ.get(constants.ENV_STATE_DIR)
    if override:
        return Path(override)
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "determined"
