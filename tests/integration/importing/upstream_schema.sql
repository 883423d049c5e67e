-- Tables of an upstream 0.38.1 database, as far as an import reads them. Written from the facts of their columns.
CREATE TABLE gopg_migrations (id serial PRIMARY KEY, version bigint, created_at timestamptz DEFAULT now());
INSERT INTO gopg_migrations (version) VALUES (20240530112249), (20241024164947);
CREATE TABLE cluster_id (cluster_id text PRIMARY KEY);

CREATE TABLE users (
  id int PRIMARY KEY, username text UNIQUE NOT NULL, password_hash text, admin bool NOT NULL DEFAULT false,
  active bool NOT NULL DEFAULT true, display_name text, modified_at timestamptz NOT NULL DEFAULT now(),
  remote bool NOT NULL DEFAULT false, last_auth_at timestamptz);
CREATE TABLE agent_user_groups (user_id int UNIQUE, user_ text, uid int, group_ text, gid int);
CREATE TABLE groups (id int PRIMARY KEY, group_name text, user_id int);
CREATE TABLE user_group_membership (user_id int, group_id int);
CREATE TABLE role_assignment_scopes (id int PRIMARY KEY, scope_workspace_id int);
CREATE TABLE role_assignments (group_id int, role_id int, scope_id int);
CREATE TYPE token_type AS ENUM ('USER_SESSION', 'ACCESS_TOKEN');
CREATE TABLE user_sessions (
  id serial PRIMARY KEY, user_id int, expiry timestamp, token_type token_type DEFAULT 'USER_SESSION',
  revoked_at timestamp, description text);
CREATE TABLE user_web_settings (user_id int, storage_path text, key text, value jsonb);
CREATE TABLE activity (user_id int, entity_id int, activity_time timestamptz);

CREATE TABLE workspaces (
  id int PRIMARY KEY, name text, archived bool DEFAULT false, created_at timestamptz DEFAULT now(), user_id int,
  immutable bool DEFAULT false, state text, error_message text, uid int, user_ text, gid int, group_ text,
  checkpoint_storage_config jsonb, default_compute_pool text, default_aux_pool text, auto_created_namespace_name text);
CREATE TABLE projects (
  id int PRIMARY KEY, name text, description text, archived bool DEFAULT false, created_at timestamptz DEFAULT now(),
  notes jsonb, workspace_id int, user_id int, immutable bool DEFAULT false, state text, key text UNIQUE, max_local_id int);
CREATE TABLE workspace_pins (workspace_id int, user_id int);
CREATE TABLE rp_workspace_bindings (workspace_id int, pool_name text, valid bool);
CREATE TABLE templates (name text PRIMARY KEY, config jsonb, workspace_id int);
CREATE TABLE workspace_namespace_bindings (
  workspace_id int, cluster_name text, namespace text, auto_create_namespace bool);
CREATE TABLE user_profile_images (id serial PRIMARY KEY, user_id int, file_data bytea);
CREATE TABLE experiment_snapshots (id serial PRIMARY KEY, experiment_id int, content jsonb, version int);
CREATE TABLE trial_profiler_metrics (id serial PRIMARY KEY, "values" float8[], batches int[], ts timestamptz[], labels jsonb);
CREATE TABLE resource_aggregates (date date, aggregation_type text, aggregation_key text, seconds float8);
CREATE TABLE allocation_accelerators (allocation_id text, node_name text, accelerator_type text, accelerator_uuids text[]);
CREATE SCHEMA scim;
CREATE TABLE scim.users (id uuid, user_id int);
CREATE TABLE task_config_policies (workspace_id int, workload_type text, invariant_config jsonb, constraints jsonb);
CREATE TABLE webhooks (
  id int PRIMARY KEY, url text, webhook_type text, workspace_id int, name text, mode text);
CREATE TABLE webhook_triggers (id serial PRIMARY KEY, webhook_id int, trigger_type text, condition jsonb);

CREATE TABLE jobs (job_id text PRIMARY KEY, job_type text, owner_id int, q_position text);
CREATE TYPE experiment_state AS ENUM (
  'ACTIVE', 'PAUSED', 'STOPPING_COMPLETED', 'STOPPING_CANCELED', 'STOPPING_KILLED', 'STOPPING_ERROR', 'COMPLETED',
  'CANCELED', 'ERROR', 'DELETING', 'DELETE_FAILED', 'DELETED', 'RUNNING');
CREATE TABLE experiments (
  id int PRIMARY KEY, state experiment_state, config jsonb, original_config text, model_definition bytea,
  start_time timestamptz, end_time timestamptz, archived bool DEFAULT false, parent_id int, owner_id int,
  progress float8, notes text DEFAULT '', job_id text, project_id int, best_trial_id int, unmanaged bool DEFAULT false,
  external_experiment_id text UNIQUE, checkpoint_size bigint DEFAULT 0, checkpoint_count int DEFAULT 0);
CREATE TABLE runs (
  id int PRIMARY KEY, experiment_id int, project_id int, state experiment_state, start_time timestamptz,
  end_time timestamptz, hparams jsonb, restart_id int DEFAULT 1, restarts int DEFAULT 0, runner_state text,
  total_batches int DEFAULT 0, searcher_metric_value float8, searcher_metric_value_signed float8,
  best_validation_id int, latest_validation_id int, summary_metrics jsonb, checkpoint_size bigint DEFAULT 0,
  checkpoint_count int DEFAULT 0, last_activity timestamptz, external_run_id text, archived bool DEFAULT false,
  local_id int, log_retention_days int, log_policy_matched text);
CREATE TABLE trials_v2 (run_id int PRIMARY KEY, request_id text, seed int DEFAULT 0);
CREATE TABLE run_id_task_id (run_id int, task_id text);
CREATE TABLE runs_metadata (run_id int PRIMARY KEY, metadata jsonb);
CREATE TABLE trial_source_infos (
  trial_id int, checkpoint_uuid uuid, type text, model_id int, model_version int);

CREATE TYPE metric_partition_type AS ENUM ('TRAINING', 'VALIDATION', 'GENERIC', 'PROFILING');
CREATE TABLE metrics (
  trial_id int NOT NULL, end_time timestamptz, metrics jsonb, total_batches int, trial_run_id int NOT NULL DEFAULT 0,
  archived bool NOT NULL DEFAULT false, id serial, metric_group text,
  partition_type metric_partition_type NOT NULL) PARTITION BY LIST (partition_type);
CREATE TABLE raw_steps PARTITION OF metrics FOR VALUES IN ('TRAINING');
CREATE TABLE raw_validations PARTITION OF metrics FOR VALUES IN ('VALIDATION');
CREATE TABLE generic_metrics PARTITION OF metrics FOR VALUES IN ('GENERIC');
CREATE TABLE system_metrics PARTITION OF metrics FOR VALUES IN ('PROFILING');
CREATE UNIQUE INDEX ON raw_steps (trial_id, total_batches, trial_run_id);
CREATE UNIQUE INDEX ON raw_validations (trial_id, total_batches, trial_run_id);
CREATE UNIQUE INDEX ON raw_validations (id);
CREATE UNIQUE INDEX ON generic_metrics (trial_id, metric_group, total_batches, trial_run_id);

CREATE TYPE checkpoint_state AS ENUM ('ACTIVE', 'COMPLETED', 'ERROR', 'DELETED', 'PARTIALLY_DELETED');
CREATE TABLE storage_backend_shared_fs (
  id serial PRIMARY KEY, host_path text, container_path text, checkpoint_path text, tensorboard_path text,
  storage_path text, propagation text);
CREATE TABLE storage_backend_s3 (
  id serial PRIMARY KEY, bucket text, access_key text, secret_key text, endpoint_url text, prefix text);
CREATE TABLE storage_backend_gcs (id serial PRIMARY KEY, bucket text, prefix text);
CREATE TABLE storage_backend_azure (
  id serial PRIMARY KEY, container text, connection_string text, account_url text, credential text);
CREATE TABLE storage_backend_directory (id serial PRIMARY KEY, container_path text);
CREATE TABLE storage_backend (
  id int PRIMARY KEY, shared_fs_id int, s3_id int, gcs_id int, azure_id int, directory_id int);
CREATE TABLE checkpoints_v2 (
  id serial, uuid uuid PRIMARY KEY, task_id text, allocation_id text, report_time timestamptz, state checkpoint_state,
  resources jsonb, metadata jsonb, size bigint DEFAULT 0, storage_id int);
CREATE TABLE run_checkpoints (run_id int, checkpoint_id uuid);
CREATE TABLE models (
  id int PRIMARY KEY, name text UNIQUE, description text, creation_time timestamptz, last_updated_time timestamptz,
  metadata jsonb, labels text[], user_id int, archived bool DEFAULT false, notes text, workspace_id int);
CREATE TABLE model_versions (
  id int PRIMARY KEY, model_id int, version int, checkpoint_uuid uuid, creation_time timestamptz DEFAULT now(),
  last_updated_time timestamptz DEFAULT now(), name text, comment text, notes text, labels text[], metadata jsonb,
  user_id int);

CREATE TABLE tasks (
  task_id text PRIMARY KEY, task_type text, start_time timestamp, end_time timestamp, job_id text,
  log_version smallint DEFAULT 1);
CREATE TABLE allocations (
  task_id text, allocation_id text PRIMARY KEY, resource_pool text, slots int, start_time timestamp, end_time timestamp,
  state text, ports jsonb, exit_reason text, exit_error text, status_code int);
CREATE TABLE task_logs (
  id bigserial PRIMARY KEY, task_id text, allocation_id text, agent_id text, container_id text, rank_id int, source text,
  stdtype text, level text, timestamp timestamp, log bytea);
CREATE INDEX ON task_logs (task_id);
CREATE TABLE trial_logs (
  id bigserial PRIMARY KEY, trial_id int, message bytea, log bytea, agent_id text, container_id text, rank_id int,
  source text, stdtype text, level text, timestamp timestamp);
CREATE INDEX ON trial_logs (trial_id);
