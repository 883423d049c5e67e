"""Config policies: limits an administrator sets on what may be asked for."""

from determined._json import JsonObject
from determined.config.experiment_schema import EXPERIMENT
from determined.config.resources import PRIORITY_RANGE
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
