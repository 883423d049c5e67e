"""Columns of upstream's tables that the import reads. Without those of `REQUIRED` it does not begin."""

REQUIRED = {
    "users": "id username password_hash admin active display_name modified_at remote",
    "agent_user_groups": "user_id user_ uid group_ gid",
    "user_group_membership": "user_id group_id",
    "role_assignments": "group_id role_id scope_id",
    "role_assignment_scopes": "id scope_workspace_id",
    "user_web_settings": "user_id storage_path key value",
    "activity": "user_id entity_id activity_time",
    "workspaces": "id name archived created_at user_id immutable state uid user_ gid group_ checkpoint_storage_config",
    "workspace_pins": "workspace_id user_id",
    "rp_workspace_bindings": "workspace_id pool_name valid",
    "projects": "id name description archived created_at notes workspace_id user_id immutable state",
    "experiments": (
        "id state config original_config model_definition start_time end_time archived parent_id owner_id progress "
        "notes job_id project_id best_trial_id unmanaged external_experiment_id"
    ),
    "runs": (
        "id experiment_id state start_time end_time hparams restart_id restarts runner_state total_batches "
        "searcher_metric_value best_validation_id latest_validation_id summary_metrics checkpoint_size "
        "checkpoint_count last_activity external_run_id"
    ),
    "trials_v2": "run_id request_id seed",
    "run_id_task_id": "run_id task_id",
    "raw_steps": "id trial_id trial_run_id total_batches end_time archived metrics",
    "raw_validations": "id trial_id trial_run_id total_batches end_time archived metrics",
    "generic_metrics": "id trial_id trial_run_id total_batches end_time archived metrics metric_group",
    "system_metrics": "id trial_id trial_run_id end_time archived metrics metric_group",
    "checkpoints_v2": "uuid task_id allocation_id report_time state resources metadata size storage_id",
    "run_checkpoints": "run_id checkpoint_id",
    "storage_backend": "id shared_fs_id s3_id gcs_id azure_id directory_id",
    "tasks": "task_id task_type start_time end_time job_id log_version",
    "task_logs": "id task_id allocation_id agent_id container_id rank_id source stdtype level timestamp log",
    "cluster_id": "cluster_id",
}

LATER: dict[str, dict[str, str]] = {
    "users": {"last_auth_at": "NULL::timestamptz"},
    "workspaces": {"default_compute_pool": "NULL::text", "default_aux_pool": "NULL::text"},
    "projects": {"key": "NULL::text"},
    "runs": {"archived": "false", "log_retention_days": "NULL::int"},
    "runs_metadata": {"metadata": "NULL::jsonb"},
}
"""Columns of the newest schema that an older one may lack, and the expression of SQL that is read instead."""

MODELS, TEMPLATES, WEBHOOKS, ALLOCATIONS, LINEAGE = "models", "templates", "webhooks", "allocations", "lineage"
GROUPS, POLICIES, ACCESS_TOKENS = "groups", "policies", "access tokens"

OPTIONAL: dict[str, dict[str, str]] = {
    MODELS: {
        "models": (
            "id name description creation_time last_updated_time metadata labels user_id archived notes workspace_id"
        ),
        "model_versions": (
            "model_id version id checkpoint_uuid creation_time last_updated_time name comment notes labels metadata "
            "user_id"
        ),
    },
    LINEAGE: {"trial_source_infos": "trial_id checkpoint_uuid type model_id model_version"},
    TEMPLATES: {"templates": "name config workspace_id"},
    WEBHOOKS: {"webhooks": "id url webhook_type", "webhook_triggers": "id webhook_id trigger_type condition"},
    ALLOCATIONS: {
        "allocations": (
            "task_id allocation_id resource_pool slots start_time end_time exit_reason exit_error status_code"
        )
    },
    GROUPS: {"groups": "id group_name user_id"},
    POLICIES: {"task_config_policies": "workspace_id workload_type invariant_config constraints"},
    ACCESS_TOKENS: {"user_sessions": "user_id token_type revoked_at description"},
}
"""By kind: one whose tables lack columns is left out, and the rest is taken."""
