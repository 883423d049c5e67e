"""Rules that look across the sections of a master config."""

import re
from collections.abc import Iterator

from determined._json import JsonObject
from determined.engines import registry


def advertised_url_whole(value: JsonObject) -> Iterator[tuple[str, str]]:
    url = value.get("advertised_url")
    if isinstance(url, str) and not re.fullmatch(r"https?://[^\s/?#]+(/[^\s?#]*)?", url):
        yield "advertised_url", f"`{url}` is no URL that others could use; write it as http://HOST:PORT or https://HOST"


def _pool_names(value: JsonObject) -> list[str]:
    """List the pools of all managers."""
    sections = [value, *(value.get("additional_resource_managers") or [])]
    return [pool.get("pool_name") for section in sections for pool in section.get("resource_pools") or []]


def _managers(value: JsonObject) -> list[JsonObject]:
    sections = [value, *(value.get("additional_resource_managers") or [])]
    return [section.get("resource_manager") or {} for section in sections]


def _kind(manager: JsonObject) -> str:
    return manager.get("type") or registry.DEFAULT


def unique_managers(value: JsonObject) -> Iterator[tuple[str, str]]:
    managers = _managers(value)
    kinds = [_kind(manager) for manager in managers]
    for kind in sorted({kind for kind in kinds if kinds.count(kind) > 1 and registry.manager(kind).is_single}):
        yield (
            "additional_resource_managers",
            f"two managers have type `{kind}`: that is this one machine; merge their pools",
        )
    names = [registry.engine_name(_kind(manager), manager.get("name")) for manager in managers]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield "additional_resource_managers", f"two managers are called `{name}`; give each a `name` of its own"


def devices_once(value: JsonObject) -> Iterator[tuple[str, str]]:
    """Two engines of one machine that both looked for its GPUs would both hand them out."""
    here = [manager for manager in _managers(value) if registry.manager(_kind(manager)).runs_here]
    for manager in here if len(here) > 1 else ():
        kind = _kind(manager)
        keys = registry.manager(kind).device_keys
        if keys and all(manager.get(key) is None for key in keys):
            first, last = ", ".join(f"`{key}`" for key in keys[:-1]), keys[-1]
            yield (
                "additional_resource_managers",
                f"`{registry.DEFAULT}` and `{kind}` are both this machine; say in the {kind} manager what is its own:"
                f" {first} or `{last}`",
            )


def unique_pools(value: JsonObject) -> Iterator[tuple[str, str]]:
    names = _pool_names(value)
    for name in sorted({name for name in names if name and names.count(name) > 1}):
        yield "resource_pools", f"pool_name `{name}` is given to more than one pool"


def default_pools_exist(value: JsonObject) -> Iterator[tuple[str, str]]:
    names = _pool_names(value) if value.get("resource_pools") else ["default", *_pool_names(value)]
    manager = value.get("resource_manager") or {}
    if registry.manager(_kind(manager)).finds_pools and not value.get("resource_pools"):
        return  # the engine names the pools, when the master starts
    for key in ("default_aux_resource_pool", "default_compute_resource_pool"):
        if manager.get(key) is not None and manager[key] not in names:
            yield f"resource_manager.{key}", f"no pool `{manager[key]}`; pools are {', '.join(names)}"
