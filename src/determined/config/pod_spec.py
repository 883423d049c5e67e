"""Kubernetes pod specs: what may not be configured, and the strategic-merge patch of one spec over another."""

from typing import Any

from determined.config.node import Node, Report
from determined.config.text import kind_of

CONTAINER_NAME = "determined-container"

_REFUSED_IN_CONTAINER = (
    "image", "command", "args", "workingDir", "ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle",
    "terminationMessagePath", "terminationMessagePolicy", "imagePullPolicy", "securityContext",
)  # fmt: skip

# The lists Kubernetes merges by a key; every other list is replaced.
_MERGE_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "volumes": "name",
    "imagePullSecrets": "name",
    "env": "name",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "ports": "containerPort",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey",
}


class PodSpec(Node):
    def check(self, value: Any, at: str, report: Report) -> None:
        if not isinstance(value, dict):
            return report.add(at, f"must be a mapping, not {kind_of(value)}")
        metadata = value.get("metadata")
        for key in ("name", "namespace", "name_space"):
            if isinstance(metadata, dict) and metadata.get(key) is not None:
                report.add(f"{at}.metadata", f"`{key}` of a pod is not configurable")
        spec = value.get("spec")
        containers = spec.get("containers") if isinstance(spec, dict) else None
        for index, container in enumerate(containers if isinstance(containers, list) else []):
            _check_container(container, f"{at}.spec.containers[{index}]", report)

    def merge(self, high: Any, low: Any) -> Any:
        return strategic_merge(high, low)


def strategic_merge(high: Any, low: Any, key: str = "") -> Any:
    """`high` as a patch on `low`. `$patch: replace` takes high whole, `$patch: delete` removes a list entry."""
    if isinstance(high, dict) and isinstance(low, dict):
        return _merge_maps(high, low)
    if isinstance(high, list) and isinstance(low, list) and key in _MERGE_KEYS:
        return _merge_lists(high, low, _MERGE_KEYS[key])
    return low if high is None else high


def _merge_maps(high: dict[str, Any], low: dict[str, Any]) -> dict[str, Any]:
    if high.get("$patch") == "replace":
        return {key: value for key, value in high.items() if key != "$patch"}
    return {**low, **{key: strategic_merge(value, low.get(key), key) for key, value in high.items()}}


def _merge_lists(high: list[Any], low: list[Any], key: str) -> list[Any]:
    patches = {entry.get(key): entry for entry in high if isinstance(entry, dict)}
    merged = [strategic_merge(patches.get(_key_of(entry, key)), entry) for entry in low]
    known = [_key_of(entry, key) for entry in low]
    added = [entry for entry in high if _key_of(entry, key) not in known]
    return [entry for entry in merged + added if not _deleted(entry)]


def _key_of(entry: Any, key: str) -> Any:
    return entry.get(key) if isinstance(entry, dict) else None


def _deleted(entry: Any) -> bool:
    return isinstance(entry, dict) and entry.get("$patch") == "delete"


def _check_container(container: Any, at: str, report: Report) -> None:
    if not isinstance(container, dict) or container.get("name") != CONTAINER_NAME:
        return
    for key in _REFUSED_IN_CONTAINER:
        if container.get(key) is not None:
            report.add(at, f"`{key}` of {CONTAINER_NAME} is not configurable")
