"""initial schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "cluster",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_cluster")),
    )
    op.create_table(
        "local_nodes",
        sa.Column("node_id", sa.String(), nullable=False),
        sa.Column("pool", sa.String(), nullable=False),
        sa.Column("slots", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("node_id", name=op.f("pk_local_nodes")),
    )
    op.create_table(
        "node_overrides",
        sa.Column("node_id", sa.String(), nullable=False),
        sa.Column("slot_id", sa.Integer(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("draining", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("node_id", "slot_id", name=op.f("pk_node_overrides")),
    )
    op.create_table(
        "storage_backends",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("config", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_storage_backends")),
        sa.UniqueConstraint("key", name=op.f("uq_storage_backends_key")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "users",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("username", sa.String(), nullable=False),
        sa.Column("display_name", sa.String(), server_default="", nullable=False),
        sa.Column("password_hash", sa.String(), nullable=True),
        sa.Column("admin", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("active", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("remote", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("agent_uid", sa.Integer(), nullable=True),
        sa.Column("agent_user", sa.String(), nullable=True),
        sa.Column("agent_gid", sa.Integer(), nullable=True),
        sa.Column("agent_group", sa.String(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("modified_at", sa.BigInteger(), nullable=False),
        sa.Column("last_auth_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("username", name=op.f("uq_users_username")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "sessions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("token_hash", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("description", sa.String(), server_default="", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_sessions_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_sessions_token_hash")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sessions_user_id"), ["user_id"], unique=False)

    op.create_table(
        "user_settings",
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("storage_path", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("value", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_user_settings_user_id")),
        sa.PrimaryKeyConstraint("user_id", "storage_path", "key", name=op.f("pk_user_settings")),
    )
    op.create_table(
        "workspaces",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("archived", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("immutable", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("agent_uid", sa.Integer(), nullable=True),
        sa.Column("agent_user", sa.String(), nullable=True),
        sa.Column("agent_gid", sa.Integer(), nullable=True),
        sa.Column("agent_group", sa.String(), nullable=True),
        sa.Column("checkpoint_storage", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("default_compute_pool", sa.String(), nullable=True),
        sa.Column("default_aux_pool", sa.String(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_workspaces_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workspaces")),
        sa.UniqueConstraint("name", name=op.f("uq_workspaces_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("owner_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("workspace_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("pool", sa.String(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("weight", sa.Float(), nullable=False),
        sa.Column("max_slots", sa.Integer(), nullable=True),
        sa.Column("submitted_at", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name=op.f("fk_jobs_owner_id")),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_jobs_workspace_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    op.create_table(
        "pool_bindings",
        sa.Column("pool", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_pool_bindings_workspace_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("pool", "workspace_id", name=op.f("pk_pool_bindings")),
    )
    op.create_table(
        "projects",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("workspace_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=True),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("archived", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("immutable", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_projects_user_id")),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_projects_workspace_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
        sa.UniqueConstraint("key", name=op.f("uq_projects_key")),
        sa.UniqueConstraint("workspace_id", "name", name=op.f("uq_projects_workspace_id_name")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("projects", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_projects_workspace_id"), ["workspace_id"], unique=False)

    op.create_table(
        "workspace_pins",
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("workspace_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("pinned_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_workspace_pins_user_id")),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_workspace_pins_workspace_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "workspace_id", name=op.f("pk_workspace_pins")),
    )
    op.create_table(
        "experiments",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("owner_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("parent_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("notes", sa.Text(), server_default="", nullable=False),
        sa.Column("labels", sa.JSON(), nullable=False),
        sa.Column("config", sa.JSON(), nullable=False),
        sa.Column("original_config", sa.Text(), nullable=False),
        sa.Column("template", sa.String(), nullable=True),
        sa.Column("archived", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("unmanaged", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=True),
        sa.Column("generation", sa.String(), nullable=False),
        sa.Column("searcher_metric", sa.String(), nullable=True),
        sa.Column("smaller_is_better", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("warm_start_checkpoint", sa.String(), nullable=True),
        sa.Column("submitter_python", sa.String(), nullable=True),
        sa.Column("progress", sa.Float(), nullable=True),
        sa.Column("start_time", sa.BigInteger(), nullable=False),
        sa.Column("end_time", sa.BigInteger(), nullable=True),
        sa.Column("best_trial_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("gc_time", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_experiments_job_id")),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name=op.f("fk_experiments_owner_id")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_experiments_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_experiments")),
        sa.UniqueConstraint("external_id", name=op.f("uq_experiments_external_id")),
        sa.UniqueConstraint("job_id", name=op.f("uq_experiments_job_id")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("experiments", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_experiments_project_id"), ["project_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_experiments_state"), ["state"], unique=False)

    op.create_table(
        "project_views",
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("viewed_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_project_views_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_project_views_user_id")),
        sa.PrimaryKeyConstraint("user_id", "project_id", name=op.f("pk_project_views")),
    )
    op.create_table(
        "model_definitions",
        sa.Column("experiment_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("tgz", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["experiment_id"], ["experiments.id"], name=op.f("fk_model_definitions_experiment_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("experiment_id", name=op.f("pk_model_definitions")),
    )
    op.create_table(
        "search_events",
        sa.Column("experiment_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("event", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["experiment_id"], ["experiments.id"], name=op.f("fk_search_events_experiment_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("experiment_id", "seq", name=op.f("pk_search_events")),
    )
    op.create_table(
        "search_snapshots",
        sa.Column("experiment_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("snapshot", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["experiment_id"], ["experiments.id"], name=op.f("fk_search_snapshots_experiment_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("experiment_id", name=op.f("pk_search_snapshots")),
    )
    op.create_table(
        "trials",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("experiment_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("request_id", sa.String(), nullable=False),
        sa.Column("task_id", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("hparams", sa.JSON(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("run_id", sa.Integer(), server_default="0", nullable=False),
        sa.Column("restarts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("start_time", sa.BigInteger(), nullable=False),
        sa.Column("end_time", sa.BigInteger(), nullable=True),
        sa.Column("runner_state", sa.String(), nullable=True),
        sa.Column("metadata", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("progress", sa.Float(), nullable=True),
        sa.Column("op_length", sa.BigInteger(), nullable=True),
        sa.Column("op_completed", sa.BigInteger(), nullable=True),
        sa.Column("op_closed", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("early_stopped", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("early_exit", sa.String(), nullable=True),
        sa.Column("exit_reported", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("warm_start_checkpoint", sa.String(), nullable=True),
        sa.Column("steps_completed", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("latest_validation_step", sa.BigInteger(), nullable=True),
        sa.Column("latest_validation_value", sa.Float(), nullable=True),
        sa.Column("latest_validation_time", sa.BigInteger(), nullable=True),
        sa.Column("best_validation_step", sa.BigInteger(), nullable=True),
        sa.Column("best_validation_value", sa.Float(), nullable=True),
        sa.Column("best_validation_time", sa.BigInteger(), nullable=True),
        sa.Column("latest_checkpoint", sa.String(), nullable=True),
        sa.Column("checkpoint_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("checkpoint_size", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("log_retention_days", sa.Integer(), nullable=True),
        sa.Column("log_policy_label", sa.String(), nullable=True),
        sa.Column("external_id", sa.String(), nullable=True),
        sa.Column("last_activity", sa.BigInteger(), nullable=True),
        sa.Column("archived", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.ForeignKeyConstraint(
            ["experiment_id"], ["experiments.id"], name=op.f("fk_trials_experiment_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trials")),
        sa.UniqueConstraint("experiment_id", "external_id", name=op.f("uq_trials_experiment_id_external_id")),
        sa.UniqueConstraint("experiment_id", "request_id", name=op.f("uq_trials_experiment_id_request_id")),
        sa.UniqueConstraint("task_id", name=op.f("uq_trials_task_id")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("trials", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_trials_experiment_id"), ["experiment_id"], unique=False)
        batch_op.create_index(
            "ix_trials_open",
            ["experiment_id", "state"],
            unique=False,
            sqlite_where=sa.text("exit_reported IS 0"),
            postgresql_where=sa.text("exit_reported IS false"),
        )
        batch_op.create_index(batch_op.f("ix_trials_state"), ["state"], unique=False)

    op.create_table(
        "checkpoints",
        sa.Column("uuid", sa.String(), nullable=False),
        sa.Column("task_id", sa.String(), nullable=False),
        sa.Column("allocation_id", sa.String(), nullable=True),
        sa.Column("trial_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("experiment_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("run_id", sa.Integer(), nullable=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("steps_completed", sa.BigInteger(), nullable=False),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("resources", sa.JSON(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("report_time", sa.BigInteger(), nullable=False),
        sa.Column("storage_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("delete_requested_at", sa.BigInteger(), nullable=True),
        sa.Column("delete_globs", sa.JSON(none_as_null=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["experiment_id"], ["experiments.id"], name=op.f("fk_checkpoints_experiment_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["storage_id"], ["storage_backends.id"], name=op.f("fk_checkpoints_storage_id")),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.id"], name=op.f("fk_checkpoints_trial_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_checkpoints")),
    )
    with op.batch_alter_table("checkpoints", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_checkpoints_delete_requested_at"), ["delete_requested_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_checkpoints_experiment_id"), ["experiment_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_checkpoints_trial_id"), ["trial_id"], unique=False)

    op.create_table(
        "metric_chunks",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("trial_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("group", sa.String(), nullable=False),
        sa.Column("first_step", sa.BigInteger(), nullable=False),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("full", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["trial_id"], ["trials.id"], name=op.f("fk_metric_chunks_trial_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_metric_chunks")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("metric_chunks", schema=None) as batch_op:
        batch_op.create_index("ix_metric_chunks_series", ["trial_id", "group", "run_id", "first_step"], unique=False)

    op.create_table(
        "metric_summaries",
        sa.Column("trial_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("group", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("sum", sa.Float(), nullable=True),
        sa.Column("min", sa.Float(), nullable=True),
        sa.Column("max", sa.Float(), nullable=True),
        sa.Column("last", sa.JSON(), nullable=True),
        sa.Column("last_step", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["trial_id"], ["trials.id"], name=op.f("fk_metric_summaries_trial_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("trial_id", "group", "name", name=op.f("pk_metric_summaries")),
    )
    with op.batch_alter_table("metric_summaries", schema=None) as batch_op:
        batch_op.create_index("ix_metric_summaries_name", ["group", "name", "trial_id"], unique=False)

    op.create_table(
        "metric_watermarks",
        sa.Column("trial_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("group", sa.String(), nullable=False),
        sa.Column("first_step", sa.BigInteger(), nullable=False),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.Column("tail_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.ForeignKeyConstraint(
            ["trial_id"], ["trials.id"], name=op.f("fk_metric_watermarks_trial_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("trial_id", "run_id", "group", name=op.f("pk_metric_watermarks")),
    )
    op.create_table(
        "tasks",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("job_id", sa.String(), nullable=True),
        sa.Column("trial_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("experiment_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("spec", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("start_time", sa.BigInteger(), nullable=False),
        sa.Column("end_time", sa.BigInteger(), nullable=True),
        sa.Column("log_retention_days", sa.Integer(), nullable=True),
        sa.Column("next_log_id", sa.BigInteger(), server_default="1", nullable=False),
        sa.ForeignKeyConstraint(
            ["experiment_id"], ["experiments.id"], name=op.f("fk_tasks_experiment_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_tasks_job_id")),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.id"], name=op.f("fk_tasks_trial_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
    )
    with op.batch_alter_table("tasks", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_tasks_experiment_id"), ["experiment_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_tasks_trial_id"), ["trial_id"], unique=False)

    op.create_table(
        "allocations",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("task_id", sa.String(), nullable=False),
        sa.Column("trial_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("slots", sa.Integer(), nullable=False),
        sa.Column("pool", sa.String(), nullable=False),
        sa.Column("preemptible", sa.Boolean(), nullable=False),
        sa.Column("single_node", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("requested_at", sa.BigInteger(), nullable=False),
        sa.Column("assigned_at", sa.BigInteger(), nullable=True),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("ready_at", sa.BigInteger(), nullable=True),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("ports", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("preempt_at", sa.BigInteger(), nullable=True),
        sa.Column("preempt_reason", sa.String(), nullable=True),
        sa.Column("preempt_deadline", sa.BigInteger(), nullable=True),
        sa.Column("preempt_acked_at", sa.BigInteger(), nullable=True),
        sa.Column("kill_at", sa.BigInteger(), nullable=True),
        sa.Column("kill_reason", sa.String(), nullable=True),
        sa.Column("exit_kind", sa.String(), nullable=True),
        sa.Column("exit_reason", sa.Text(), nullable=True),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("drained", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("accelerators", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("proxy_address", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_allocations_task_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.id"], name=op.f("fk_allocations_trial_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_allocations")),
    )
    with op.batch_alter_table("allocations", schema=None) as batch_op:
        batch_op.create_index(
            "ix_allocations_live",
            ["trial_id"],
            unique=False,
            sqlite_where=sa.text("ended_at IS NULL"),
            postgresql_where=sa.text("ended_at IS NULL"),
        )
        batch_op.create_index(batch_op.f("ix_allocations_state"), ["state"], unique=False)
        batch_op.create_index(batch_op.f("ix_allocations_task_id"), ["task_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_allocations_trial_id"), ["trial_id"], unique=False)

    op.create_table(
        "log_chunks",
        sa.Column("task_id", sa.String(), nullable=False),
        sa.Column("first_id", sa.BigInteger(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("min_time", sa.BigInteger(), nullable=False),
        sa.Column("max_time", sa.BigInteger(), nullable=False),
        sa.Column("levels", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_log_chunks_task_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("task_id", "first_id", name=op.f("pk_log_chunks")),
    )
    op.create_table(
        "log_policy_hits",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("task_id", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("node_id", sa.String(), server_default="", nullable=False),
        sa.Column("pattern", sa.Text(), nullable=False),
        sa.Column("line", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_log_policy_hits_task_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_log_policy_hits")),
        sa.UniqueConstraint(
            "task_id", "action", "node_id", "pattern", name=op.f("uq_log_policy_hits_task_id_action_node_id_pattern")
        ),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "trial_source_infos",
        sa.Column("trial_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("checkpoint_uuid", sa.String(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("model_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("model_version", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["checkpoint_uuid"],
            ["checkpoints.uuid"],
            name=op.f("fk_trial_source_infos_checkpoint_uuid"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["trial_id"], ["trials.id"], name=op.f("fk_trial_source_infos_trial_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("trial_id", "checkpoint_uuid", name=op.f("pk_trial_source_infos")),
    )
    op.create_table(
        "runners",
        sa.Column("resource_id", sa.String(), nullable=False),
        sa.Column("allocation_id", sa.String(), nullable=False),
        sa.Column("container_id", sa.String(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("engine", sa.String(), nullable=False),
        sa.Column("node_id", sa.String(), nullable=False),
        sa.Column("slot_ids", sa.JSON(), nullable=False),
        sa.Column("device", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("address", sa.String(), nullable=True),
        sa.Column("rendezvous_at", sa.BigInteger(), nullable=True),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("exited_at", sa.BigInteger(), nullable=True),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("exit_cause", sa.String(), nullable=True),
        sa.Column("exit_message", sa.Text(), nullable=True),
        sa.Column("daemon", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("drained", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.ForeignKeyConstraint(
            ["allocation_id"], ["allocations.id"], name=op.f("fk_runners_allocation_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("resource_id", name=op.f("pk_runners")),
    )
    with op.batch_alter_table("runners", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_runners_allocation_id"), ["allocation_id"], unique=False)
        batch_op.create_index(
            "ix_runners_undrained",
            ["allocation_id"],
            unique=False,
            sqlite_where=sa.text("drained IS 0"),
            postgresql_where=sa.text("drained IS false"),
        )

    op.create_table(
        "report_positions",
        sa.Column("resource_id", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["resource_id"], ["runners.resource_id"], name=op.f("fk_report_positions_resource_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("resource_id", "source", name=op.f("pk_report_positions")),
    )
