"""Config policies: limits an administrator sets on what may be asked for."""

from determined._json import JsonObject, JsonValue
from determined.config.experiment_schema import EXPERIMENT
from determined.config.resources import PRIORITY_RANGE
from determined.errors import FailedPrecondition, InvalidArgument
from determined.schema.lists import FreeMap
from determined.schema.node import Integer
from determined.schema.section import Section, field


class ResourceLimits(Section):
    max_slots: int | None = field(Integer(low=0), "Most slots that anybody may ask for.", default=None)


class Constraints(Section):
    """Limits of a workspace or of the cluster; None is no limit."""

    resources: ResourceLimits = field(ResourceLimits, "Limits of resources.", default={})
    priority_limit: int | None = field(
        Integer(*PRIORITY_RANGE), "The best (smallest) priority that anybody may ask for.", default=None
    )


class _Partial(FreeMap):
    """A part of an experiment config, checked where it is laid over one."""

    def json_schema(self) -> JsonObject:
        return {key: value for key, value in EXPERIMENT.json_schema().items() if key != "required"}


class ConfigPolicies(Section):
    """The policies of a workspace or of the cluster for experiments; a scope's are replaced as a unit."""

    invariant_config: JsonObject | None = field(
        _Partial(), "Laid over every experiment config: what it says cannot be overridden.", default=None
    )
    constraints: Constraints | None = field(Constraints, "Limits on what may be asked for.", default=None)


def parse_constraints(workspace: JsonObject | None, cluster: JsonObject | None) -> Constraints:
    """Overwrite the workspace's limits with the cluster's."""
    merged = Constraints.merge(Constraints.canonical(cluster or {}), Constraints.canonical(workspace or {}))
    return Constraints.parse(merged, "invalid constraints")


def check_constraints(limits: Constraints, *, slots: int, max_slots: int | None, priority: int | None) -> None:
    """Refuse what exceeds the limits.

    Raises:
        InvalidArgument: naming the value and the limit.
    """
    if limits.resources.max_slots is not None:
        for name, number in (("slots", slots), ("max_slots", max_slots)):
            if number is not None and number > limits.resources.max_slots:
                raise InvalidArgument(
                    f"requested resources.{name} [{number}] exceeds limit set by admin [{limits.resources.max_slots}]"
                )
    if limits.priority_limit is not None and priority is not None and priority < limits.priority_limit:
        raise InvalidArgument(f"requested priority [{priority}] exceeds limit set by admin [{limits.priority_limit}]")


def check_not_pinned(invariants: list[JsonObject], path: str, value: object) -> None:
    """Refuse a later change of a value that a policy fixes; the last invariant wins.

    Raises:
        FailedPrecondition: naming the fixed value.
    """
    for invariant in reversed(invariants):
        pinned: JsonValue = invariant
        for key in path.split("."):
            pinned = pinned.get(key) if isinstance(pinned, dict) else None
        if pinned is None:
            continue
        if pinned != value:
            raise FailedPrecondition(f"{path}={pinned} is enforced as an invariant config policy; ask an administrator")
        return
