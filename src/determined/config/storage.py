"""checkpoint_storage: the union of the sections that stores bring, and what a config says of paths."""

from determined._json import JsonObject, JsonValue
from determined.errors import InvalidConfig
from determined.schema.node import Report
from determined.schema.objects import Tagged
from determined.schema.paths import path_problem
from determined.storage import registry
from determined.storage.section import CheckpointStorage


class _Storage(Tagged[CheckpointStorage]):
    """An account and its credentials come as one block from the layer that first names an account."""

    def merge(self, high: JsonValue, low: JsonValue) -> JsonValue:
        merged = super().merge(high, low)
        if not isinstance(high, dict) or not isinstance(low, dict) or not isinstance(merged, dict):
            return merged
        for section in registry.sections().values():
            if any(high.get(key) is not None for key in section.account_keys):
                block = section.account_keys + section.credential_keys
                merged = {key: item for key, item in merged.items() if key not in block or high.get(key) is not None}
        return merged


CHECKPOINT_STORAGE = _Storage(CheckpointStorage, tag="type", variants=registry.sections())


def parse_checkpoint_storage(raw: JsonObject) -> CheckpointStorage:
    """Check and type one `checkpoint_storage` section.

    Raises:
        InvalidConfig: with every violation, paths starting at `<config>.checkpoint_storage`.
    """
    canonical = CHECKPOINT_STORAGE.canonical(raw)
    report = Report(complete=True)
    CHECKPOINT_STORAGE.check(canonical, "<config>.checkpoint_storage", report)
    if report.violations:
        raise InvalidConfig("checkpoint storage is invalid or incomplete", report.violations)
    return CHECKPOINT_STORAGE.load(CHECKPOINT_STORAGE.fill(canonical))


def place_problem(raw: JsonObject) -> str | None:
    """Say why nothing saved in this section's place would be found again; None when the path it names can be looked up.

    For sections that were stored before such paths were refused: they are shown, and nothing is started with them.
    """
    section = registry.section(raw.get("type"))
    path = raw.get(section.path_key)
    if not isinstance(path, str):
        return None
    reason = path_problem(path)
    if reason is not None:
        return f"checkpoint_storage.{section.path_key}: {reason}"
    violations = (violation for rule in section.schema.rules for violation in rule(raw))
    return next((f"checkpoint_storage.{at}: {reason}" for at, reason in violations), None)
