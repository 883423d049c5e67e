"""Types of JSON that users and other programs write: metrics, hyperparameters, configs before their check."""

from typing import Any, TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
"""A value to write. Who reads one narrows it."""

JsonObject: TypeAlias = dict[str, Any]
"""A mapping whose values only the user knows. Never a row of a table or a checked config: those have types."""
