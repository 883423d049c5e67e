"""Upstream's `determined.cli.ntsc`: words of notebooks, TensorBoards, shells and commands, for users' scripts."""

import re
from collections.abc import Iterable
from typing import IO, Any

from determined._json import JsonObject

__all__ = [
    "TASK_ID_REGEX",
    "RemoteTaskName",
    "RemoteTaskNewAPIs",
    "TaskTypeCommand",
    "TaskTypeNotebook",
    "TaskTypeShell",
    "TaskTypeTensorBoard",
    "parse_config",
    "parse_config_overrides",
]

TASK_ID_REGEX = re.compile(r"^(\d+\.)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", re.IGNORECASE)

TaskTypeNotebook = "notebook"
TaskTypeCommand = "command cmd"
TaskTypeShell = "shell"
TaskTypeTensorBoard = "tensorboard"

RemoteTaskName = {
    kind: kind.partition(" ")[0] for kind in (TaskTypeNotebook, TaskTypeCommand, TaskTypeShell, TaskTypeTensorBoard)
}
RemoteTaskNewAPIs = {kind: f"{name}s" for kind, name in RemoteTaskName.items()}


def parse_config(
    config_file: IO[Any] | None, entrypoint: list[str] | None, overrides: Iterable[str], volumes: Iterable[str]
) -> JsonObject:
    """Read a config file, lay `key=value` overrides over it, and add volumes (`host path:container path`)."""
    from determined.config import parse_yaml

    config = parse_config_overrides(parse_yaml(config_file.read()) if config_file is not None else {}, overrides)
    mounts = [dict(zip(("host_path", "container_path"), text.split(":", 1), strict=True)) for text in volumes]
    if mounts:
        config["bind_mounts"] = [*(config.get("bind_mounts") or []), *mounts]
    return {**config, "entrypoint": entrypoint} if entrypoint else config


def parse_config_overrides(config: JsonObject, overrides: Iterable[str]) -> JsonObject:
    """Lay `key=value` overrides over a config; dots in a key lead into sections."""
    from determined.config import apply_overrides

    return apply_overrides(config, list(overrides))
