"""Upstream's generated REST calls: missing here, with another way."""

raise ImportError(
    "determined.common.api.bindings is not implemented; use determined.experimental.client (experiments, trials, "
    "checkpoints, users, workspaces, projects)",
    name=__name__,
)
