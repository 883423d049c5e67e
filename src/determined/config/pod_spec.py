"""Kubernetes pod specs: what may not be configured, and the strategic-merge patch of one spec over another."""

from determined._json import JsonObject, JsonValue
from determined.schema.node import Node, Report, kind_of

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


class PodSpec(Node[JsonObject]):
    """A pod spec of Kubernetes; layers merge as Kubernetes patches do."""

    kind = "mapping"

    def check(self, value: object, at: str, report: Report) -> None:
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

    def merge(self, high: JsonValue, low: JsonValue) -> JsonValue:
        return strategic_merge(high, low)

    def json_schema(self) -> JsonObject:
        return {"type": "object"}


def strategic_merge(high: JsonValue, low: JsonValue, key: str = "") -> JsonValue:
    """Apply `high` as a patch on `low`. `$patch: replace` takes high whole, `$patch: delete` removes a list entry."""
    if isinstance(high, dict) and isinstance(low, dict):
        return _merge_maps(high, low)
    if isinstance(high, list) and isinstance(low, list) and key in _MERGE_KEYS:
        return _merge_lists(high, low, _MERGE_KEYS[key])
    return low if high is None else high


def _merge_maps(high: dict[str, JsonValue], low: dict[str, JsonValue]) -> dict[str, JsonValue]:
    if high.get("$patch") == "replace":
        return {key: value for key, value in high.items() if key != "$patch"}
    return {**low, **{key: strategic_merge(value, low.get(key), key) for key, value in high.items()}}


def _merge_lists(high: list[JsonValue], low: list[JsonValue], key: str) -> list[JsonValue]:
    patches = {entry.get(key): entry for entry in high if isinstance(entry, dict)}
    merged = [strategic_merge(patches.get(_key_of(entry, key)), entry) for entry in low]
    known = [_key_of(entry, key) for entry in low]
    added = [entry for entry in high if _key_of(entry, key) not in known]
    return [entry for entry in merged + added if not _deleted(entry)]


def _key_of(entry: JsonValue, key: str) -> JsonValue:
    return entry.get(key) if isinstance(entry, dict) else None


def _deleted(entry: JsonValue) -> bool:
    return isinstance(entry, dict) and entry.get("$patch") == "delete"


def _check_container(container: object, at: str, report: Report) -> None:
    if not isinstance(container, dict) or container.get("name") != CONTAINER_NAME:
        return
    for key in _REFUSED_IN_CONTAINER:
        if container.get(key) is not None:
            report.add(at, f"`{key}` of {CONTAINER_NAME} is not configurable")
