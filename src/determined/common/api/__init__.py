"""Upstream's `determined.common.api`. Each name loads when it is first asked for: most scripts need few of them."""

from importlib import import_module
from typing import Any

_MODULES = ("authentication", "bindings", "certs", "errors", "logs", "metric")
_HOMES = {
    "_paging": ("PageOpts", "read_paginated"),
    "_rbac": (
        "create_group_assignment_request", "create_user_assignment_request", "group_name_to_group_id",
        "not_found_errs", "role_name_to_role_id", "usernames_to_user_ids", "workspace_by_name",
    ),
    "_session": ("BaseSession", "Session", "TaskSession", "UnauthSession"),
    "_tasks": (
        "AnyNTSC", "NTSC_Kind", "WARNING_MESSAGE_MAP", "get_ntsc_details", "wait_for_ntsc_state", "wait_for_task_ready",
    ),
    "_urls": ("canonicalize_master_url", "get_default_master_url"),
    "authentication": ("salt_and_hash",),
    "logs": ("pprint_logs", "task_logs", "trial_logs"),
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted([*_MODULES, *_HOME_OF])  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
