"""Rules that look across the sections of a master config."""

import re
from collections.abc import Iterator

from determined._json import JsonObject


def advertised_url_whole(value: JsonObject) -> Iterator[tuple[str, str]]:
    url = value.get("advertised_url")
    if isinstance(url, str) and not re.fullmatch(r"https?://[^\s/?#]+(/[^\s?#]*)?", url):
        yield "advertised_url", f"`{url}` is no URL that others could use; write it as http://HOST:PORT or https://HOST"


def _pool_names(value: JsonObject) -> list[str]:
    """List the pools of all managers."""
    sections = [value, *(value.get("additional_resource_managers") or [])]
    return [pool.get("pool_name") for section in sections for pool in section.get("resource_pools") or []]


def unique_managers(value: JsonObject) -> Iterator[tuple[str, str]]:
    sections = [value, *(value.get("additional_resource_managers") or [])]
    managers = [section.get("resource_manager") or {} for section in sections]
    kinds = [manager.get("type") or "agent" for manager in managers]
    if kinds.count("agent") > 1:
        yield (
            "additional_resource_managers",
            "two managers have type `agent`: that is this one machine; merge their pools",
        )
    names = [
        manager.get("name") or ("local" if kind == "agent" else kind)
        for manager, kind in zip(managers, kinds, strict=True)
    ]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield "additional_resource_managers", f"two managers are called `{name}`; give each a `name` of its own"


def devices_once(value: JsonObject) -> Iterator[tuple[str, str]]:
    """Two engines of one machine that both looked for its GPUs would both hand them out."""
    sections = [value, *(value.get("additional_resource_managers") or [])]
    managers = [section.get("resource_manager") or {} for section in sections]
    containers = [manager for manager in managers if manager.get("type") == "docker"]
    for manager in containers:
        divided = any(manager.get(key) is not None for key in ("slots", "slot_type", "visible_gpus"))
        if not divided and (len(containers) > 1 or any((one.get("type") or "agent") == "agent" for one in managers)):
            yield (
                "additional_resource_managers",
                "`agent` and `docker` are both this machine; say in the docker manager what is its own: `slots`,"
                " `slot_type` or `visible_gpus`",
            )


def unique_pools(value: JsonObject) -> Iterator[tuple[str, str]]:
    names = _pool_names(value)
    for name in sorted({name for name in names if name and names.count(name) > 1}):
        yield "resource_pools", f"pool_name `{name}` is given to more than one pool"


def default_pools_exist(value: JsonObject) -> Iterator[tuple[str, str]]:
    names = _pool_names(value) if value.get("resource_pools") else ["default", *_pool_names(value)]
    manager = value.get("resource_manager") or {}
    if manager.get("type") == "slurm" and not value.get("resource_pools"):
        return  # its partitions become the pools; which those are is only known when the master starts
    for key in ("default_aux_resource_pool", "default_compute_resource_pool"):
        if manager.get(key) is not None and manager[key] not in names:
            yield f"resource_manager.{key}", f"no pool `{manager[key]}`; pools are {', '.join(names)}"
