"""Tables, each declared once, a file per noun. Migrations bring a database to exactly this."""

from determined.master.db.schema.allocations import (
    allocations,
    log_policy_hits,
    report_positions,
    runners,
    tasks,
    unmanaged_report_positions,
)
from determined.master.db.schema.base import Time, metadata
from determined.master.db.schema.changes import changes
from determined.master.db.schema.checkpoints import checkpoints, storage_backends, trial_source_infos, trial_storages
from determined.master.db.schema.cluster import cluster, local_nodes, node_overrides
from determined.master.db.schema.experiments import (
    environment_locks,
    experiments,
    jobs,
    model_definitions,
    search_events,
    search_history,
    search_queue,
    search_snapshots,
    trials,
)
from determined.master.db.schema.imports import import_units, imports
from determined.master.db.schema.logs import log_chunks
from determined.master.db.schema.metrics import metric_chunks, metric_ranges, metric_summaries, metric_watermarks
from determined.master.db.schema.models import model_alias_changes, model_aliases, model_versions, models
from determined.master.db.schema.submitted_tasks import submitted_tasks, task_contexts
from determined.master.db.schema.users import sessions, user_settings, users
from determined.master.db.schema.webhooks import (
    trial_report_times,
    webhook_deliveries,
    webhook_firings,
    webhook_triggers,
    webhooks,
)
from determined.master.db.schema.workspaces import (
    pool_bindings,
    project_views,
    projects,
    saved_views,
    templates,
    workspace_pins,
    workspaces,
)

__all__ = [
    "Time",
    "allocations",
    "changes",
    "checkpoints",
    "cluster",
    "environment_locks",
    "experiments",
    "import_units",
    "imports",
    "jobs",
    "local_nodes",
    "log_chunks",
    "log_policy_hits",
    "metadata",
    "metric_chunks",
    "metric_ranges",
    "metric_summaries",
    "metric_watermarks",
    "model_alias_changes",
    "model_aliases",
    "model_definitions",
    "model_versions",
    "models",
    "node_overrides",
    "pool_bindings",
    "project_views",
    "projects",
    "report_positions",
    "runners",
    "saved_views",
    "search_events",
    "search_history",
    "search_queue",
    "search_snapshots",
    "sessions",
    "storage_backends",
    "submitted_tasks",
    "task_contexts",
    "tasks",
    "templates",
    "trial_report_times",
    "trial_source_infos",
    "trial_storages",
    "trials",
    "unmanaged_report_positions",
    "user_settings",
    "users",
    "webhook_deliveries",
    "webhook_firings",
    "webhook_triggers",
    "webhooks",
    "workspace_pins",
    "workspaces",
]
