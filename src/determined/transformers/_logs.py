"""Logs of a Trainer, sorted into reports: their group, names and position in the training."""

from collections.abc import Iterable

from determined._json import JsonObject

TRAINING, VALIDATION, TEST = "training", "validation", "test"
_PREFIXES = {"eval_": VALIDATION, "test_": TEST}
_DROPPED = ("_runtime", "_per_second", "_compilation_time")


def group_of(logs: JsonObject) -> str:
    """Return the group by the prefix of its names; a Trainer logs one kind at a time."""
    return next(
        (group for prefix, group in _PREFIXES.items() if any(name.startswith(prefix) for name in logs)), TRAINING
    )


def chosen(logs: JsonObject, parts: list[str] | None, always: Iterable[str]) -> JsonObject:
    """The metrics among what is logged.

    Args:
        logs: of a Trainer.
        wanted: parts of names; None: all.
        always: names that are kept whatever is wanted.
    """
    kept = set(always)
    return {
        name: value
        for name, value in logs.items()
        if name != "epoch"
        and not name.endswith(_DROPPED)
        and (parts is None or name in kept or any(part in name for part in parts))
    }


def is_summary(logs: JsonObject) -> bool:
    """Return whether a Trainer ends its training with it; one that counts tokens has times in every log."""
    return "train_runtime" in logs and "loss" not in logs
