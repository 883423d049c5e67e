"""Webhooks that a config names and that its experiment cannot reach."""

from determined.config import ExperimentConfig
from determined.master.context import MasterContext
from determined.master.db.queries import webhook as webhooks


async def remarks(ctx: MasterContext, config: ExperimentConfig, workspace_id: int) -> list[str]:
    """Name the webhooks of `integrations.webhooks` that neither the cluster nor this workspace has."""
    choice = config.integrations.webhooks if config.integrations is not None else None
    if choice is None or choice.exclude or not (choice.webhook_id or choice.webhook_name):
        return []
    reachable = await ctx.db.read(lambda conn: webhooks.reachable_from(conn, workspace_id))
    missing = [repr(name) for name in dict.fromkeys(choice.webhook_name) if name not in {one.name for one in reachable}]
    missing += [str(n) for n in dict.fromkeys(choice.webhook_id) if n not in {one.id for one in reachable}]
    if not missing:
        return []
    is_alone = len(missing) == len({*choice.webhook_name}) + len({*choice.webhook_id})
    return [f"no webhook {' or '.join(missing)} here{'; alerts reach nobody' if is_alone else ''} (det webhook list)"]
