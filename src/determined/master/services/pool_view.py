"""Resource pool as the API shows it. Much of upstream's shape is about cloud provisioning and stays empty here."""

from collections import Counter
from collections.abc import Sequence

from determined.master.config import MasterConfig
from determined.master.lifecycle.capacity import Capacity
from determined.master.lifecycle.pools import Pool, SchedulerKind
from determined.wire import pool as wire
from determined.wire.agent import DeviceType

_SCHEDULERS = {
    SchedulerKind.PRIORITY: wire.SchedulerType.PRIORITY,
    SchedulerKind.FAIR_SHARE: wire.SchedulerType.FAIR_SHARE,
    SchedulerKind.ROUND_ROBIN: wire.SchedulerType.ROUND_ROBIN,
}


def to_wire(
    pool: Pool, config: MasterConfig, capacity: Sequence[Capacity], stats: wire.QueueStats
) -> wire.ResourcePool:
    usable = [c for c in capacity if c.state.enabled or c.state.draining]
    sizes = {c.total for c in usable}
    manager = config.resource_manager
    return wire.ResourcePool(
        name=pool.name,
        description=pool.description,
        type=wire.ResourcePoolType.STATIC,
        num_agents=len(capacity),
        slots_available=sum(c.total for c in usable),
        slots_used=sum(len(c.used) for c in capacity),
        slots_free=sum(len(c.free) for c in usable if not c.state.draining),
        slot_type=_slot_type(capacity),
        aux_container_capacity=sum(c.max_aux for c in usable),
        aux_container_capacity_per_agent=100 if pool.max_aux is None else pool.max_aux,
        aux_containers_running=sum(c.used_aux for c in capacity),
        default_aux_pool=pool.name == manager.default_aux_resource_pool,
        default_compute_pool=pool.name == manager.default_compute_resource_pool,
        preemptible=pool.settings.preemption,
        min_agents=len(capacity),
        max_agents=len(capacity),
        slots_per_agent=sizes.pop() if len(sizes) == 1 else None,
        scheduler_type=_SCHEDULERS[pool.scheduler],
        scheduler_fitting_policy=wire.FittingPolicy(f"FITTING_POLICY_{pool.settings.fitting.upper()}"),
        details=_details(pool),
        stats=stats,
        cluster_name=config.cluster_name,
        location="on-prem",
        instance_type="",
        image_id="",
        master_url="",
        master_cert_name="",
        startup_script="",
        container_startup_script="",
        agent_docker_image="",
        agent_docker_network="",
        agent_docker_runtime="",
        agent_fluent_image="",
        max_agent_starting_period=0.0,
        max_idle_agent_period=0.0,
        resource_manager_metadata={},
    )


def _slot_type(capacity: Sequence[Capacity]) -> DeviceType:
    """Return the type of most slots."""
    kinds = Counter(slot.device for c in capacity for slot in c.node.slots)
    if not kinds:
        return DeviceType.UNSPECIFIED
    return DeviceType(f"TYPE_{kinds.most_common(1)[0][0].upper()}")


def _details(pool: Pool) -> wire.ResourcePoolDetail:
    if pool.scheduler != SchedulerKind.PRIORITY:
        return wire.ResourcePoolDetail()
    return wire.ResourcePoolDetail(
        priority_scheduler=wire.ResourcePoolPrioritySchedulerDetail(
            preemption=pool.settings.preemption, default_priority=pool.default_priority, k8_priorities=[]
        )
    )
