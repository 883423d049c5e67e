"""Which files of integration tests `make test` runs on both databases; the others it runs on SQLite alone.

These read or write in ways that databases differ in, or must survive on either. `make test-postgres` runs the rest.
"""

ON_BOTH = frozenset(
    [
        "migrations_tree",
        "migrations_history",
        "experiments_list",
        "runs_http",
        "run_groups_http",
        "project_columns_http",
        "lookup_http",
        "undo_http",
        "views_http",
        "metrics_http",
        "metric_charts_http",
        "reports_http",
        "logs_http",
        "stream_http",
        "stream_kill",
        "stream_bounds",
        "checkpoints_http",
        "trials_http",
        "workspaces_http",
        "projects_http",
        "resource_allocation_http",
        "restart_reconciler",
        "durable_reports",
        "big_searches",
        "checkpoint_deletion",
        "checkpoint_policy",
        "experiment_deletion",
        "lifecycle_verbs",
        "search_log",
        "queue_http",
        "sessions_http",
        "credentials_http",
    ]
)
