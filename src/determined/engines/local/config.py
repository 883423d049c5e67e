"""`resource_manager: {type: agent}`: this machine. What it offers are keys of the master itself (`slots`, ...)."""

from determined.engines.resource_manager import ManagerNode, ResourceManager
from determined.schema.node import Boolean, Text
from determined.schema.section import field


class LocalManager(ResourceManager, node=ManagerNode, extra=True):
    """The master's machine. Upstream calls it an agent resource manager; keys of its agents are left alone."""

    kind = "agent"
    default_name = "local"
    where = "this machine"
    page = "getting-started.md"
    runs_here = True
    forks_trials = True
    is_single = True

    type: str = field(Text(), "`agent`.", default="agent")
    warm: bool = field(
        Boolean(),
        "Fork runners and trials from interpreters that have imported what they need"
        " ([Warm workers](../performance.md#warm-workers)).",
        default=True,
        since="0.39",
    )
