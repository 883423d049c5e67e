-- Written by scripts/make_sqlite_schema.py from the migrations; changes are lost.
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE cluster (
	"key" VARCHAR NOT NULL, 
	value JSON NOT NULL, 
	CONSTRAINT pk_cluster PRIMARY KEY ("key")
);
CREATE TABLE local_nodes (
	node_id VARCHAR NOT NULL, 
	pool VARCHAR NOT NULL, 
	slots INTEGER NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_local_nodes PRIMARY KEY (node_id)
);
CREATE TABLE node_overrides (
	node_id VARCHAR NOT NULL, 
	slot_id INTEGER NOT NULL, 
	enabled BOOLEAN NOT NULL, 
	draining BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_node_overrides PRIMARY KEY (node_id, slot_id)
);
CREATE TABLE storage_backends (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"key" VARCHAR NOT NULL, 
	config JSON NOT NULL, 
	CONSTRAINT uq_storage_backends_key UNIQUE ("key")
);
CREATE TABLE users (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	username VARCHAR NOT NULL, 
	display_name VARCHAR DEFAULT '' NOT NULL, 
	password_hash VARCHAR, 
	admin BOOLEAN DEFAULT 0 NOT NULL, 
	active BOOLEAN DEFAULT 1 NOT NULL, 
	remote BOOLEAN DEFAULT 0 NOT NULL, 
	agent_uid INTEGER, 
	agent_user VARCHAR, 
	agent_gid INTEGER, 
	agent_group VARCHAR, 
	created_at BIGINT NOT NULL, 
	modified_at BIGINT NOT NULL, 
	last_auth_at BIGINT, 
	CONSTRAINT uq_users_username UNIQUE (username)
);
CREATE TABLE sessions (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	user_id INTEGER NOT NULL, 
	token_hash VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	description VARCHAR DEFAULT '' NOT NULL, 
	created_at BIGINT NOT NULL, 
	expires_at BIGINT, 
	revoked_at BIGINT, parent_id INTEGER, 
	CONSTRAINT fk_sessions_user_id FOREIGN KEY(user_id) REFERENCES users (id), 
	CONSTRAINT uq_sessions_token_hash UNIQUE (token_hash)
);
CREATE TABLE user_settings (
	user_id INTEGER NOT NULL, 
	storage_path VARCHAR NOT NULL, 
	"key" VARCHAR NOT NULL, 
	value TEXT, 
	CONSTRAINT pk_user_settings PRIMARY KEY (user_id, storage_path, "key"), 
	CONSTRAINT fk_user_settings_user_id FOREIGN KEY(user_id) REFERENCES users (id)
);
CREATE TABLE workspaces (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name VARCHAR NOT NULL, 
	user_id INTEGER NOT NULL, 
	archived BOOLEAN DEFAULT 0 NOT NULL, 
	immutable BOOLEAN DEFAULT 0 NOT NULL, 
	agent_uid INTEGER, 
	agent_user VARCHAR, 
	agent_gid INTEGER, 
	agent_group VARCHAR, 
	checkpoint_storage JSON, 
	default_compute_pool VARCHAR, 
	default_aux_pool VARCHAR, 
	created_at BIGINT NOT NULL, state VARCHAR DEFAULT 'UNSPECIFIED' NOT NULL, error_message TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT fk_workspaces_user_id FOREIGN KEY(user_id) REFERENCES users (id), 
	CONSTRAINT uq_workspaces_name UNIQUE (name)
);
CREATE TABLE jobs (
	id VARCHAR NOT NULL, 
	type VARCHAR NOT NULL, 
	owner_id INTEGER NOT NULL, 
	workspace_id INTEGER NOT NULL, 
	pool VARCHAR NOT NULL, 
	priority INTEGER NOT NULL, 
	weight FLOAT NOT NULL, 
	max_slots INTEGER, 
	submitted_at BIGINT NOT NULL, 
	position FLOAT NOT NULL, 
	CONSTRAINT pk_jobs PRIMARY KEY (id), 
	CONSTRAINT fk_jobs_owner_id FOREIGN KEY(owner_id) REFERENCES users (id), 
	CONSTRAINT fk_jobs_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id)
);
CREATE TABLE pool_bindings (
	pool VARCHAR NOT NULL, 
	workspace_id INTEGER NOT NULL, 
	CONSTRAINT pk_pool_bindings PRIMARY KEY (pool, workspace_id), 
	CONSTRAINT fk_pool_bindings_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE
);
CREATE TABLE projects (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	workspace_id INTEGER NOT NULL, 
	user_id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	"key" VARCHAR, 
	description TEXT DEFAULT '' NOT NULL, 
	notes JSON NOT NULL, 
	archived BOOLEAN DEFAULT 0 NOT NULL, 
	immutable BOOLEAN DEFAULT 0 NOT NULL, 
	created_at BIGINT NOT NULL, state VARCHAR DEFAULT 'UNSPECIFIED' NOT NULL, error_message TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT fk_projects_user_id FOREIGN KEY(user_id) REFERENCES users (id), 
	CONSTRAINT fk_projects_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id), 
	CONSTRAINT uq_projects_key UNIQUE ("key"), 
	CONSTRAINT uq_projects_workspace_id_name UNIQUE (workspace_id, name)
);
CREATE TABLE workspace_pins (
	user_id INTEGER NOT NULL, 
	workspace_id INTEGER NOT NULL, 
	pinned_at BIGINT NOT NULL, 
	CONSTRAINT pk_workspace_pins PRIMARY KEY (user_id, workspace_id), 
	CONSTRAINT fk_workspace_pins_user_id FOREIGN KEY(user_id) REFERENCES users (id), 
	CONSTRAINT fk_workspace_pins_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE
);
CREATE TABLE experiments (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	job_id VARCHAR NOT NULL, 
	project_id INTEGER NOT NULL, 
	owner_id INTEGER NOT NULL, 
	parent_id INTEGER, 
	state VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	description TEXT, 
	notes TEXT DEFAULT '' NOT NULL, 
	labels JSON NOT NULL, 
	config JSON NOT NULL, 
	original_config TEXT NOT NULL, 
	template VARCHAR, 
	archived BOOLEAN DEFAULT 0 NOT NULL, 
	unmanaged BOOLEAN DEFAULT 0 NOT NULL, 
	external_id VARCHAR, 
	generation VARCHAR NOT NULL, 
	searcher_metric VARCHAR, 
	smaller_is_better BOOLEAN DEFAULT 1 NOT NULL, 
	warm_start_checkpoint VARCHAR, 
	submitter_python VARCHAR, 
	progress FLOAT, 
	start_time BIGINT NOT NULL, 
	end_time BIGINT, 
	best_trial_id INTEGER, 
	error TEXT, 
	gc_time BIGINT, 
	CONSTRAINT fk_experiments_job_id FOREIGN KEY(job_id) REFERENCES jobs (id), 
	CONSTRAINT fk_experiments_owner_id FOREIGN KEY(owner_id) REFERENCES users (id), 
	CONSTRAINT fk_experiments_project_id FOREIGN KEY(project_id) REFERENCES projects (id), 
	CONSTRAINT uq_experiments_external_id UNIQUE (external_id), 
	CONSTRAINT uq_experiments_job_id UNIQUE (job_id)
);
CREATE TABLE project_views (
	user_id INTEGER NOT NULL, 
	project_id INTEGER NOT NULL, 
	viewed_at BIGINT NOT NULL, 
	CONSTRAINT pk_project_views PRIMARY KEY (user_id, project_id), 
	CONSTRAINT fk_project_views_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT fk_project_views_user_id FOREIGN KEY(user_id) REFERENCES users (id)
);
CREATE TABLE model_definitions (
	experiment_id INTEGER NOT NULL, 
	tgz BLOB NOT NULL, 
	CONSTRAINT pk_model_definitions PRIMARY KEY (experiment_id), 
	CONSTRAINT fk_model_definitions_experiment_id FOREIGN KEY(experiment_id) REFERENCES experiments (id) ON DELETE CASCADE
);
CREATE TABLE search_events (
	experiment_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	event JSON NOT NULL, 
	CONSTRAINT pk_search_events PRIMARY KEY (experiment_id, seq), 
	CONSTRAINT fk_search_events_experiment_id FOREIGN KEY(experiment_id) REFERENCES experiments (id) ON DELETE CASCADE
);
CREATE TABLE search_snapshots (
	experiment_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	snapshot JSON NOT NULL, 
	CONSTRAINT pk_search_snapshots PRIMARY KEY (experiment_id), 
	CONSTRAINT fk_search_snapshots_experiment_id FOREIGN KEY(experiment_id) REFERENCES experiments (id) ON DELETE CASCADE
);
CREATE TABLE trials (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	experiment_id INTEGER NOT NULL, 
	request_id VARCHAR NOT NULL, 
	task_id VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	hparams JSON NOT NULL, 
	seed BIGINT NOT NULL, 
	run_id INTEGER DEFAULT '0' NOT NULL, 
	restarts INTEGER DEFAULT '0' NOT NULL, 
	start_time BIGINT NOT NULL, 
	end_time BIGINT, 
	runner_state VARCHAR, 
	metadata JSON, 
	progress FLOAT, 
	op_length BIGINT, 
	op_completed BIGINT, 
	op_closed BOOLEAN DEFAULT 0 NOT NULL, 
	early_stopped BOOLEAN DEFAULT 0 NOT NULL, 
	early_exit VARCHAR, 
	exit_reported BOOLEAN DEFAULT 0 NOT NULL, 
	warm_start_checkpoint VARCHAR, 
	steps_completed BIGINT DEFAULT '0' NOT NULL, 
	latest_validation_step BIGINT, 
	latest_validation_value FLOAT, 
	latest_validation_time BIGINT, 
	best_validation_step BIGINT, 
	best_validation_value FLOAT, 
	best_validation_time BIGINT, 
	latest_checkpoint VARCHAR, 
	checkpoint_count INTEGER DEFAULT '0' NOT NULL, 
	checkpoint_size BIGINT DEFAULT '0' NOT NULL, 
	log_retention_days INTEGER, 
	log_policy_label VARCHAR, 
	external_id VARCHAR, 
	last_activity BIGINT, 
	archived BOOLEAN DEFAULT 0 NOT NULL, stop_reason VARCHAR, 
	CONSTRAINT fk_trials_experiment_id FOREIGN KEY(experiment_id) REFERENCES experiments (id) ON DELETE CASCADE, 
	CONSTRAINT uq_trials_experiment_id_external_id UNIQUE (experiment_id, external_id), 
	CONSTRAINT uq_trials_experiment_id_request_id UNIQUE (experiment_id, request_id), 
	CONSTRAINT uq_trials_task_id UNIQUE (task_id)
);
CREATE TABLE checkpoints (
	uuid VARCHAR NOT NULL, 
	task_id VARCHAR NOT NULL, 
	allocation_id VARCHAR, 
	trial_id INTEGER, 
	experiment_id INTEGER, 
	run_id INTEGER, 
	state VARCHAR NOT NULL, 
	steps_completed BIGINT NOT NULL, 
	metadata JSON NOT NULL, 
	resources JSON NOT NULL, 
	size BIGINT NOT NULL, 
	report_time BIGINT NOT NULL, 
	storage_id INTEGER, 
	delete_requested_at BIGINT, 
	delete_globs JSON, 
	CONSTRAINT pk_checkpoints PRIMARY KEY (uuid), 
	CONSTRAINT fk_checkpoints_experiment_id FOREIGN KEY(experiment_id) REFERENCES experiments (id) ON DELETE CASCADE, 
	CONSTRAINT fk_checkpoints_storage_id FOREIGN KEY(storage_id) REFERENCES storage_backends (id), 
	CONSTRAINT fk_checkpoints_trial_id FOREIGN KEY(trial_id) REFERENCES trials (id) ON DELETE CASCADE
);
CREATE TABLE metric_chunks (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	trial_id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	"group" VARCHAR NOT NULL, 
	first_step BIGINT NOT NULL, 
	last_step BIGINT NOT NULL, 
	n INTEGER NOT NULL, 
	"full" BOOLEAN DEFAULT 0 NOT NULL, 
	data BLOB NOT NULL, 
	CONSTRAINT fk_metric_chunks_trial_id FOREIGN KEY(trial_id) REFERENCES trials (id) ON DELETE CASCADE
);
CREATE TABLE metric_summaries (
	trial_id INTEGER NOT NULL, 
	"group" VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	type VARCHAR NOT NULL, 
	count BIGINT NOT NULL, 
	sum FLOAT, 
	min FLOAT, 
	max FLOAT, 
	last JSON, 
	last_step BIGINT, 
	CONSTRAINT pk_metric_summaries PRIMARY KEY (trial_id, "group", name), 
	CONSTRAINT fk_metric_summaries_trial_id FOREIGN KEY(trial_id) REFERENCES trials (id) ON DELETE CASCADE
);
CREATE TABLE metric_watermarks (
	trial_id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	"group" VARCHAR NOT NULL, 
	first_step BIGINT NOT NULL, 
	last_step BIGINT NOT NULL, 
	tail_id INTEGER, 
	CONSTRAINT pk_metric_watermarks PRIMARY KEY (trial_id, run_id, "group"), 
	CONSTRAINT fk_metric_watermarks_trial_id FOREIGN KEY(trial_id) REFERENCES trials (id) ON DELETE CASCADE
);
CREATE TABLE tasks (
	id VARCHAR NOT NULL, 
	type VARCHAR NOT NULL, 
	job_id VARCHAR, 
	trial_id INTEGER, 
	experiment_id INTEGER, 
	spec JSON, 
	start_time BIGINT NOT NULL, 
	end_time BIGINT, 
	log_retention_days INTEGER, 
	next_log_id BIGINT DEFAULT '1' NOT NULL, 
	CONSTRAINT pk_tasks PRIMARY KEY (id), 
	CONSTRAINT fk_tasks_experiment_id FOREIGN KEY(experiment_id) REFERENCES experiments (id) ON DELETE CASCADE, 
	CONSTRAINT fk_tasks_job_id FOREIGN KEY(job_id) REFERENCES jobs (id), 
	CONSTRAINT fk_tasks_trial_id FOREIGN KEY(trial_id) REFERENCES trials (id) ON DELETE CASCADE
);
CREATE TABLE allocations (
	id VARCHAR NOT NULL, 
	task_id VARCHAR NOT NULL, 
	trial_id INTEGER, 
	run_id INTEGER NOT NULL, 
	state VARCHAR NOT NULL, 
	slots INTEGER NOT NULL, 
	pool VARCHAR NOT NULL, 
	preemptible BOOLEAN NOT NULL, 
	single_node BOOLEAN DEFAULT 0 NOT NULL, 
	requested_at BIGINT NOT NULL, 
	assigned_at BIGINT, 
	started_at BIGINT, 
	ready_at BIGINT, 
	ended_at BIGINT, 
	ports JSON, 
	preempt_at BIGINT, 
	preempt_reason VARCHAR, 
	preempt_deadline BIGINT, 
	preempt_acked_at BIGINT, 
	kill_at BIGINT, 
	kill_reason VARCHAR, 
	exit_kind VARCHAR, 
	exit_reason TEXT, 
	exit_code INTEGER, 
	drained BOOLEAN DEFAULT 0 NOT NULL, 
	accelerators JSON, 
	proxy_address VARCHAR, stacks_requested INTEGER DEFAULT '0' NOT NULL, shell_requested BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_allocations PRIMARY KEY (id), 
	CONSTRAINT fk_allocations_task_id FOREIGN KEY(task_id) REFERENCES tasks (id) ON DELETE CASCADE, 
	CONSTRAINT fk_allocations_trial_id FOREIGN KEY(trial_id) REFERENCES trials (id) ON DELETE CASCADE
);
CREATE TABLE log_chunks (
	task_id VARCHAR NOT NULL, 
	first_id BIGINT NOT NULL, 
	n INTEGER NOT NULL, 
	min_time BIGINT NOT NULL, 
	max_time BIGINT NOT NULL, 
	levels INTEGER NOT NULL, 
	data BLOB NOT NULL, 
	CONSTRAINT pk_log_chunks PRIMARY KEY (task_id, first_id), 
	CONSTRAINT fk_log_chunks_task_id FOREIGN KEY(task_id) REFERENCES tasks (id) ON DELETE CASCADE
);
CREATE TABLE log_policy_hits (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	task_id VARCHAR NOT NULL, 
	action VARCHAR NOT NULL, 
	node_id VARCHAR DEFAULT '' NOT NULL, 
	pattern TEXT NOT NULL, 
	line TEXT NOT NULL, 
	CONSTRAINT fk_log_policy_hits_task_id FOREIGN KEY(task_id) REFERENCES tasks (id) ON DELETE CASCADE, 
	CONSTRAINT uq_log_policy_hits_task_id_action_node_id_pattern UNIQUE (task_id, action, node_id, pattern)
);
CREATE TABLE trial_source_infos (
	trial_id INTEGER NOT NULL, 
	checkpoint_uuid VARCHAR NOT NULL, 
	type VARCHAR NOT NULL, 
	model_id INTEGER, 
	model_version INTEGER, 
	CONSTRAINT pk_trial_source_infos PRIMARY KEY (trial_id, checkpoint_uuid), 
	CONSTRAINT fk_trial_source_infos_checkpoint_uuid FOREIGN KEY(checkpoint_uuid) REFERENCES checkpoints (uuid) ON DELETE CASCADE, 
	CONSTRAINT fk_trial_source_infos_trial_id FOREIGN KEY(trial_id) REFERENCES trials (id) ON DELETE CASCADE
);
CREATE TABLE runners (
	resource_id VARCHAR NOT NULL, 
	allocation_id VARCHAR NOT NULL, 
	container_id VARCHAR NOT NULL, 
	rank INTEGER NOT NULL, 
	engine VARCHAR NOT NULL, 
	node_id VARCHAR NOT NULL, 
	slot_ids JSON NOT NULL, 
	device VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	address VARCHAR, 
	rendezvous_at BIGINT, 
	started_at BIGINT, 
	exited_at BIGINT, 
	exit_code INTEGER, 
	exit_cause VARCHAR, 
	exit_message TEXT, 
	daemon BOOLEAN DEFAULT 0 NOT NULL, 
	drained BOOLEAN DEFAULT 0 NOT NULL, claimant VARCHAR, 
	CONSTRAINT pk_runners PRIMARY KEY (resource_id), 
	CONSTRAINT fk_runners_allocation_id FOREIGN KEY(allocation_id) REFERENCES allocations (id) ON DELETE CASCADE
);
CREATE TABLE report_positions (
	resource_id VARCHAR NOT NULL, 
	source VARCHAR NOT NULL, 
	position BIGINT NOT NULL, 
	CONSTRAINT pk_report_positions PRIMARY KEY (resource_id, source), 
	CONSTRAINT fk_report_positions_resource_id FOREIGN KEY(resource_id) REFERENCES runners (resource_id) ON DELETE CASCADE
);
CREATE TABLE search_history (
	experiment_id INTEGER NOT NULL, 
	n INTEGER NOT NULL, 
	request_id VARCHAR NOT NULL, 
	event JSON NOT NULL, 
	pending BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_search_history PRIMARY KEY (experiment_id, n), 
	CONSTRAINT fk_search_history_experiment_id FOREIGN KEY(experiment_id) REFERENCES experiments (id) ON DELETE CASCADE
);
CREATE TABLE trial_storages (
	trial_id INTEGER NOT NULL, 
	storage_id INTEGER NOT NULL, 
	CONSTRAINT pk_trial_storages PRIMARY KEY (trial_id, storage_id), 
	CONSTRAINT fk_trial_storages_storage_id FOREIGN KEY(storage_id) REFERENCES storage_backends (id), 
	CONSTRAINT fk_trial_storages_trial_id FOREIGN KEY(trial_id) REFERENCES trials (id) ON DELETE CASCADE
);
CREATE TABLE changes (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	noun VARCHAR NOT NULL, 
	id VARCHAR NOT NULL, 
	parent BIGINT, 
	value BIGINT, 
	deleted BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT uq_changes_noun_id UNIQUE (noun, id)
);
CREATE TABLE saved_views (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	project_id INTEGER NOT NULL, 
	user_id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	state TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT fk_saved_views_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT fk_saved_views_user_id FOREIGN KEY(user_id) REFERENCES users (id), 
	CONSTRAINT uq_saved_views_project_id_name UNIQUE (project_id, name)
);
CREATE TABLE environment_locks (
	experiment_id INTEGER NOT NULL, 
	platform VARCHAR NOT NULL, 
	content TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_environment_locks PRIMARY KEY (experiment_id, platform), 
	CONSTRAINT fk_environment_locks_experiment_id FOREIGN KEY(experiment_id) REFERENCES experiments (id) ON DELETE CASCADE
);
CREATE TABLE metric_ranges (
	experiment_id INTEGER NOT NULL, 
	"group" VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	min FLOAT NOT NULL, 
	max FLOAT NOT NULL, 
	CONSTRAINT pk_metric_ranges PRIMARY KEY (experiment_id, "group", name), 
	CONSTRAINT fk_metric_ranges_experiment_id FOREIGN KEY(experiment_id) REFERENCES experiments (id) ON DELETE CASCADE
);
CREATE TABLE search_queue (
	experiment_id INTEGER NOT NULL, 
	n INTEGER NOT NULL, 
	operations JSON NOT NULL, 
	CONSTRAINT pk_search_queue PRIMARY KEY (experiment_id, n), 
	CONSTRAINT fk_search_queue_experiment_id FOREIGN KEY(experiment_id) REFERENCES experiments (id) ON DELETE CASCADE
);
CREATE TABLE submitted_tasks (
	task_id VARCHAR NOT NULL, 
	description TEXT NOT NULL, 
	config JSON NOT NULL, 
	submitted_config JSON NOT NULL, 
	template VARCHAR, 
	submitter_python VARCHAR, 
	experiment_ids JSON, 
	trial_ids JSON, 
	last_active BIGINT, 
	share_links INTEGER DEFAULT '0' NOT NULL, 
	is_shared BOOLEAN DEFAULT 0 NOT NULL, 
	state VARCHAR, 
	project_id INTEGER, 
	parent_id VARCHAR, 
	forked_from VARCHAR, 
	no_pause BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_submitted_tasks PRIMARY KEY (task_id), 
	CONSTRAINT fk_submitted_tasks_task_id FOREIGN KEY(task_id) REFERENCES tasks (id) ON DELETE CASCADE, 
	CONSTRAINT fk_submitted_tasks_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE SET NULL, 
	CONSTRAINT fk_submitted_tasks_parent_id FOREIGN KEY(parent_id) REFERENCES tasks (id) ON DELETE SET NULL
);
CREATE TABLE task_contexts (
	task_id VARCHAR NOT NULL, 
	tgz BLOB NOT NULL, 
	CONSTRAINT pk_task_contexts PRIMARY KEY (task_id), 
	CONSTRAINT fk_task_contexts_task_id FOREIGN KEY(task_id) REFERENCES tasks (id) ON DELETE CASCADE
);
CREATE TABLE templates (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name VARCHAR NOT NULL, 
	workspace_id INTEGER NOT NULL, 
	config JSON NOT NULL, 
	user_id INTEGER NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT fk_templates_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE, 
	CONSTRAINT fk_templates_user_id FOREIGN KEY(user_id) REFERENCES users (id), 
	CONSTRAINT uq_templates_name UNIQUE (name)
);
CREATE TABLE models (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name VARCHAR NOT NULL, 
	description TEXT DEFAULT '' NOT NULL, 
	user_id INTEGER NOT NULL, 
	workspace_id INTEGER NOT NULL, 
	archived BOOLEAN DEFAULT 0 NOT NULL, 
	last_version INTEGER DEFAULT '0' NOT NULL, 
	num_versions INTEGER DEFAULT '0' NOT NULL, 
	notes TEXT DEFAULT '' NOT NULL, 
	metadata JSON NOT NULL, 
	labels JSON NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT fk_models_user_id FOREIGN KEY(user_id) REFERENCES users (id), 
	CONSTRAINT fk_models_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id), 
	CONSTRAINT uq_models_name UNIQUE (name)
);
CREATE TABLE model_versions (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	model_id INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	checkpoint_uuid VARCHAR NOT NULL, 
	user_id INTEGER NOT NULL, 
	name VARCHAR DEFAULT '' NOT NULL, 
	comment TEXT DEFAULT '' NOT NULL, 
	notes TEXT DEFAULT '' NOT NULL, 
	metadata JSON NOT NULL, 
	labels JSON NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT fk_model_versions_model_id FOREIGN KEY(model_id) REFERENCES models (id) ON DELETE CASCADE, 
	CONSTRAINT fk_model_versions_checkpoint_uuid FOREIGN KEY(checkpoint_uuid) REFERENCES checkpoints (uuid), 
	CONSTRAINT fk_model_versions_user_id FOREIGN KEY(user_id) REFERENCES users (id), 
	CONSTRAINT uq_model_versions_model_id_version UNIQUE (model_id, version)
);
CREATE TABLE model_aliases (
	model_id INTEGER NOT NULL, 
	alias VARCHAR NOT NULL, 
	version INTEGER NOT NULL, 
	user_id INTEGER NOT NULL, 
	set_at BIGINT NOT NULL, 
	CONSTRAINT pk_model_aliases PRIMARY KEY (model_id, alias), 
	CONSTRAINT fk_model_aliases_model_id FOREIGN KEY(model_id) REFERENCES models (id) ON DELETE CASCADE, 
	CONSTRAINT fk_model_aliases_user_id FOREIGN KEY(user_id) REFERENCES users (id)
);
CREATE TABLE model_alias_changes (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	model_id INTEGER NOT NULL, 
	alias VARCHAR NOT NULL, 
	version INTEGER, 
	previous_version INTEGER, 
	user_id INTEGER NOT NULL, 
	changed_at BIGINT NOT NULL, 
	CONSTRAINT fk_model_alias_changes_model_id FOREIGN KEY(model_id) REFERENCES models (id) ON DELETE CASCADE, 
	CONSTRAINT fk_model_alias_changes_user_id FOREIGN KEY(user_id) REFERENCES users (id)
);
CREATE TABLE unmanaged_report_positions (
	trial_id INTEGER NOT NULL, 
	source VARCHAR NOT NULL, 
	position BIGINT NOT NULL, 
	CONSTRAINT pk_unmanaged_report_positions PRIMARY KEY (trial_id, source), 
	CONSTRAINT fk_unmanaged_report_positions_trial_id FOREIGN KEY(trial_id) REFERENCES trials (id) ON DELETE CASCADE
);
CREATE TABLE imports (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	kind VARCHAR NOT NULL, 
	source_id VARCHAR NOT NULL, 
	source TEXT NOT NULL, 
	options JSON NOT NULL, 
	state VARCHAR NOT NULL, 
	started_at BIGINT NOT NULL, 
	ended_at BIGINT
);
CREATE TABLE import_units (
	import_id INTEGER NOT NULL, 
	step VARCHAR NOT NULL, 
	number INTEGER NOT NULL, 
	rows BIGINT NOT NULL, 
	checksum VARCHAR NOT NULL, 
	upto JSON, 
	ids JSON, 
	notes JSON NOT NULL, 
	CONSTRAINT pk_import_units PRIMARY KEY (import_id, step, number), 
	CONSTRAINT fk_import_units_import_id FOREIGN KEY(import_id) REFERENCES imports (id) ON DELETE CASCADE
);
CREATE TABLE webhooks (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	url TEXT NOT NULL, 
	type VARCHAR NOT NULL, 
	mode VARCHAR NOT NULL, 
	name TEXT NOT NULL, 
	workspace_id INTEGER, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT fk_webhooks_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE
);
CREATE TABLE webhook_triggers (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	webhook_id INTEGER NOT NULL, 
	type VARCHAR NOT NULL, 
	condition JSON NOT NULL, 
	CONSTRAINT fk_webhook_triggers_webhook_id FOREIGN KEY(webhook_id) REFERENCES webhooks (id) ON DELETE CASCADE
);
CREATE TABLE webhook_firings (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	trigger_id INTEGER NOT NULL, 
	task_id VARCHAR, 
	trial_id INTEGER, 
	CONSTRAINT fk_webhook_firings_trigger_id FOREIGN KEY(trigger_id) REFERENCES webhook_triggers (id) ON DELETE CASCADE, 
	CONSTRAINT fk_webhook_firings_task_id FOREIGN KEY(task_id) REFERENCES tasks (id) ON DELETE CASCADE, 
	CONSTRAINT fk_webhook_firings_trial_id FOREIGN KEY(trial_id) REFERENCES trials (id) ON DELETE CASCADE, 
	CONSTRAINT uq_webhook_firings_trigger_id_task_id UNIQUE (trigger_id, task_id), 
	CONSTRAINT uq_webhook_firings_trigger_id_trial_id UNIQUE (trigger_id, trial_id)
);
CREATE TABLE trial_report_times (
	trial_id INTEGER NOT NULL, 
	reported_at BIGINT NOT NULL, 
	CONSTRAINT pk_trial_report_times PRIMARY KEY (trial_id), 
	CONSTRAINT fk_trial_report_times_trial_id FOREIGN KEY(trial_id) REFERENCES trials (id) ON DELETE CASCADE
);
CREATE TABLE webhook_deliveries (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	webhook_id INTEGER NOT NULL, 
	event_id VARCHAR NOT NULL, 
	event_type VARCHAR NOT NULL, 
	event JSON NOT NULL, 
	state VARCHAR NOT NULL, 
	attempts INTEGER DEFAULT '0' NOT NULL, 
	created_at BIGINT NOT NULL, 
	next_attempt_at BIGINT NOT NULL, 
	claimed_by VARCHAR, 
	finished_at BIGINT, 
	url TEXT, 
	status_code INTEGER, 
	answer TEXT, 
	error TEXT, 
	CONSTRAINT fk_webhook_deliveries_webhook_id FOREIGN KEY(webhook_id) REFERENCES webhooks (id) ON DELETE CASCADE
);
INSERT INTO "alembic_version" VALUES('0019');
INSERT INTO "sqlite_sequence" VALUES('changes',0);
CREATE INDEX ix_sessions_user_id ON sessions (user_id);
CREATE INDEX ix_projects_workspace_id ON projects (workspace_id);
CREATE INDEX ix_experiments_project_id ON experiments (project_id);
CREATE INDEX ix_experiments_state ON experiments (state);
CREATE INDEX ix_trials_experiment_id ON trials (experiment_id);
CREATE INDEX ix_trials_open ON trials (experiment_id, state) WHERE exit_reported IS 0;
CREATE INDEX ix_trials_state ON trials (state);
CREATE INDEX ix_checkpoints_delete_requested_at ON checkpoints (delete_requested_at);
CREATE INDEX ix_checkpoints_experiment_id ON checkpoints (experiment_id);
CREATE INDEX ix_checkpoints_trial_id ON checkpoints (trial_id);
CREATE INDEX ix_metric_chunks_series ON metric_chunks (trial_id, "group", run_id, first_step);
CREATE INDEX ix_metric_summaries_name ON metric_summaries ("group", name, trial_id);
CREATE INDEX ix_tasks_experiment_id ON tasks (experiment_id);
CREATE INDEX ix_tasks_trial_id ON tasks (trial_id);
CREATE INDEX ix_allocations_live ON allocations (trial_id) WHERE ended_at IS NULL;
CREATE INDEX ix_allocations_state ON allocations (state);
CREATE INDEX ix_allocations_task_id ON allocations (task_id);
CREATE INDEX ix_allocations_trial_id ON allocations (trial_id);
CREATE INDEX ix_runners_allocation_id ON runners (allocation_id);
CREATE INDEX ix_runners_undrained ON runners (allocation_id) WHERE drained IS 0;
CREATE INDEX ix_search_history_pending ON search_history (experiment_id, request_id) WHERE pending IS 1;
CREATE INDEX ix_submitted_tasks_project_id ON submitted_tasks (project_id);
CREATE INDEX ix_submitted_tasks_parent_id ON submitted_tasks (parent_id);
CREATE INDEX ix_templates_workspace_id ON templates (workspace_id);
CREATE INDEX ix_models_workspace_id ON models (workspace_id);
CREATE INDEX ix_model_versions_checkpoint_uuid ON model_versions (checkpoint_uuid);
CREATE INDEX ix_model_alias_changes_model_id ON model_alias_changes (model_id);
CREATE INDEX ix_trial_source_infos_checkpoint_uuid ON trial_source_infos (checkpoint_uuid);
CREATE INDEX ix_trial_source_infos_model ON trial_source_infos (model_id, model_version);
CREATE INDEX ix_imports_source_id ON imports (source_id);
CREATE INDEX ix_webhooks_workspace_id ON webhooks (workspace_id);
CREATE INDEX ix_webhook_triggers_webhook_id ON webhook_triggers (webhook_id);
CREATE INDEX ix_webhook_firings_task_id ON webhook_firings (task_id);
CREATE INDEX ix_webhook_firings_trial_id ON webhook_firings (trial_id);
CREATE INDEX ix_webhook_deliveries_webhook_id ON webhook_deliveries (webhook_id, id);
CREATE INDEX ix_webhook_deliveries_waiting ON webhook_deliveries (webhook_id, next_attempt_at) WHERE finished_at IS NULL;
CREATE TRIGGER change_projects_insert AFTER INSERT ON projects BEGIN DELETE FROM changes WHERE noun = 'projects' AND id = CAST(NEW.id AS TEXT); INSERT INTO changes (noun, id, parent, value) VALUES ('projects', CAST(NEW.id AS TEXT), NEW.workspace_id, NULL);  END;
CREATE TRIGGER change_projects_update AFTER UPDATE ON projects BEGIN DELETE FROM changes WHERE noun = 'projects' AND id = CAST(NEW.id AS TEXT); INSERT INTO changes (noun, id, parent, value) VALUES ('projects', CAST(NEW.id AS TEXT), NEW.workspace_id, NULL);  END;
CREATE TRIGGER change_projects_delete AFTER DELETE ON projects BEGIN DELETE FROM changes WHERE noun = 'projects' AND id = CAST(OLD.id AS TEXT); INSERT INTO changes (noun, id, parent, deleted) VALUES ('projects', CAST(OLD.id AS TEXT), OLD.workspace_id, 1);  END;
CREATE TRIGGER change_experiments_insert AFTER INSERT ON experiments BEGIN DELETE FROM changes WHERE noun = 'experiments' AND id = CAST(NEW.id AS TEXT); INSERT INTO changes (noun, id, parent, value) VALUES ('experiments', CAST(NEW.id AS TEXT), NEW.project_id, NULL);  END;
CREATE TRIGGER change_experiments_update AFTER UPDATE ON experiments BEGIN DELETE FROM changes WHERE noun = 'experiments' AND id = CAST(NEW.id AS TEXT); INSERT INTO changes (noun, id, parent, value) VALUES ('experiments', CAST(NEW.id AS TEXT), NEW.project_id, NULL);  END;
CREATE TRIGGER change_experiments_delete AFTER DELETE ON experiments BEGIN DELETE FROM changes WHERE noun = 'experiments' AND id = CAST(OLD.id AS TEXT); INSERT INTO changes (noun, id, parent, deleted) VALUES ('experiments', CAST(OLD.id AS TEXT), OLD.project_id, 1);  END;
CREATE TRIGGER change_trials_insert AFTER INSERT ON trials BEGIN DELETE FROM changes WHERE noun = 'trials' AND id = CAST(NEW.id AS TEXT); INSERT INTO changes (noun, id, parent, value) VALUES ('trials', CAST(NEW.id AS TEXT), NEW.experiment_id, NULL);  END;
CREATE TRIGGER change_trials_update AFTER UPDATE ON trials BEGIN DELETE FROM changes WHERE noun = 'trials' AND id = CAST(NEW.id AS TEXT); INSERT INTO changes (noun, id, parent, value) VALUES ('trials', CAST(NEW.id AS TEXT), NEW.experiment_id, NULL);  END;
CREATE TRIGGER change_trials_delete AFTER DELETE ON trials BEGIN DELETE FROM changes WHERE noun = 'trials' AND id = CAST(OLD.id AS TEXT); INSERT INTO changes (noun, id, parent, deleted) VALUES ('trials', CAST(OLD.id AS TEXT), OLD.experiment_id, 1);  END;
CREATE TRIGGER change_checkpoints_insert AFTER INSERT ON checkpoints BEGIN DELETE FROM changes WHERE noun = 'checkpoints' AND id = NEW.uuid; INSERT INTO changes (noun, id, parent, value) VALUES ('checkpoints', NEW.uuid, NEW.experiment_id, NULL);  END;
CREATE TRIGGER change_checkpoints_update AFTER UPDATE ON checkpoints BEGIN DELETE FROM changes WHERE noun = 'checkpoints' AND id = NEW.uuid; INSERT INTO changes (noun, id, parent, value) VALUES ('checkpoints', NEW.uuid, NEW.experiment_id, NULL);  END;
CREATE TRIGGER change_checkpoints_delete AFTER DELETE ON checkpoints BEGIN DELETE FROM changes WHERE noun = 'checkpoints' AND id = OLD.uuid; INSERT INTO changes (noun, id, parent, deleted) VALUES ('checkpoints', OLD.uuid, OLD.experiment_id, 1);  END;
CREATE TRIGGER change_tasks_insert AFTER INSERT ON tasks BEGIN DELETE FROM changes WHERE noun = 'tasks' AND id = NEW.id; INSERT INTO changes (noun, id, parent, value) VALUES ('tasks', NEW.id, NEW.experiment_id, NULL);  END;
CREATE TRIGGER change_tasks_update AFTER UPDATE OF job_id, spec, start_time, end_time ON tasks BEGIN DELETE FROM changes WHERE noun = 'tasks' AND id = NEW.id; INSERT INTO changes (noun, id, parent, value) VALUES ('tasks', NEW.id, NEW.experiment_id, NULL);  END;
CREATE TRIGGER change_tasks_delete AFTER DELETE ON tasks BEGIN DELETE FROM changes WHERE noun = 'tasks' AND id = OLD.id; INSERT INTO changes (noun, id, parent, deleted) VALUES ('tasks', OLD.id, OLD.experiment_id, 1);  END;
CREATE TRIGGER change_jobs_insert AFTER INSERT ON jobs BEGIN DELETE FROM changes WHERE noun = 'jobs' AND id = NEW.id; INSERT INTO changes (noun, id, parent, value) VALUES ('jobs', NEW.id, NULL, NULL);  END;
CREATE TRIGGER change_jobs_update AFTER UPDATE ON jobs BEGIN DELETE FROM changes WHERE noun = 'jobs' AND id = NEW.id; INSERT INTO changes (noun, id, parent, value) VALUES ('jobs', NEW.id, NULL, NULL);  END;
CREATE TRIGGER change_jobs_delete AFTER DELETE ON jobs BEGIN DELETE FROM changes WHERE noun = 'jobs' AND id = OLD.id; INSERT INTO changes (noun, id, parent, deleted) VALUES ('jobs', OLD.id, NULL, 1);  END;
CREATE TRIGGER change_metrics_insert AFTER INSERT ON metric_watermarks BEGIN DELETE FROM changes WHERE noun = 'metrics' AND id = CAST(NEW.trial_id AS TEXT) || '/' || NEW."group"; INSERT INTO changes (noun, id, parent, value) VALUES ('metrics', CAST(NEW.trial_id AS TEXT) || '/' || NEW."group", NEW.trial_id, NEW.last_step);  END;
CREATE TRIGGER change_metrics_update AFTER UPDATE ON metric_watermarks BEGIN DELETE FROM changes WHERE noun = 'metrics' AND id = CAST(NEW.trial_id AS TEXT) || '/' || NEW."group"; INSERT INTO changes (noun, id, parent, value) VALUES ('metrics', CAST(NEW.trial_id AS TEXT) || '/' || NEW."group", NEW.trial_id, NEW.last_step);  END;
CREATE TRIGGER change_metrics_delete AFTER DELETE ON metric_watermarks BEGIN DELETE FROM changes WHERE noun = 'metrics' AND id = CAST(OLD.trial_id AS TEXT) || '/' || OLD."group";  END;
CREATE TRIGGER change_allocation_insert AFTER INSERT ON allocations BEGIN DELETE FROM changes WHERE noun = 'tasks' AND id IN (SELECT id FROM tasks WHERE id = NEW.task_id); INSERT INTO changes (noun, id, parent) SELECT 'tasks', id, experiment_id FROM tasks WHERE id = NEW.task_id; DELETE FROM changes WHERE noun = 'jobs' AND id IN (SELECT job_id FROM tasks WHERE id = NEW.task_id AND job_id IS NOT NULL); INSERT INTO changes (noun, id, parent) SELECT 'jobs', job_id, CAST(NULL AS BIGINT) FROM tasks WHERE id = NEW.task_id AND job_id IS NOT NULL; DELETE FROM changes WHERE noun = 'trials' AND id IN (SELECT CAST(id AS TEXT) FROM trials WHERE id = NEW.trial_id); INSERT INTO changes (noun, id, parent) SELECT 'trials', CAST(id AS TEXT), experiment_id FROM trials WHERE id = NEW.trial_id; DELETE FROM changes WHERE noun = 'experiments' AND id IN (SELECT CAST(e.id AS TEXT) FROM experiments e JOIN trials t ON t.experiment_id = e.id WHERE t.id = NEW.trial_id); INSERT INTO changes (noun, id, parent) SELECT 'experiments', CAST(e.id AS TEXT), e.project_id FROM experiments e JOIN trials t ON t.experiment_id = e.id WHERE t.id = NEW.trial_id;  END;
CREATE TRIGGER change_allocation_update AFTER UPDATE ON allocations BEGIN DELETE FROM changes WHERE noun = 'tasks' AND id IN (SELECT id FROM tasks WHERE id = NEW.task_id); INSERT INTO changes (noun, id, parent) SELECT 'tasks', id, experiment_id FROM tasks WHERE id = NEW.task_id; DELETE FROM changes WHERE noun = 'jobs' AND id IN (SELECT job_id FROM tasks WHERE id = NEW.task_id AND job_id IS NOT NULL); INSERT INTO changes (noun, id, parent) SELECT 'jobs', job_id, CAST(NULL AS BIGINT) FROM tasks WHERE id = NEW.task_id AND job_id IS NOT NULL; DELETE FROM changes WHERE noun = 'trials' AND id IN (SELECT CAST(id AS TEXT) FROM trials WHERE id = NEW.trial_id); INSERT INTO changes (noun, id, parent) SELECT 'trials', CAST(id AS TEXT), experiment_id FROM trials WHERE id = NEW.trial_id; DELETE FROM changes WHERE noun = 'experiments' AND id IN (SELECT CAST(e.id AS TEXT) FROM experiments e JOIN trials t ON t.experiment_id = e.id WHERE t.id = NEW.trial_id); INSERT INTO changes (noun, id, parent) SELECT 'experiments', CAST(e.id AS TEXT), e.project_id FROM experiments e JOIN trials t ON t.experiment_id = e.id WHERE t.id = NEW.trial_id;  END;
CREATE TRIGGER change_experiment_state AFTER UPDATE OF state, name ON experiments BEGIN DELETE FROM changes WHERE noun = 'jobs' AND id = NEW.job_id; INSERT INTO changes (noun, id, parent, value) VALUES ('jobs', NEW.job_id, NULL, NULL);  END;
CREATE TRIGGER change_models_insert AFTER INSERT ON models BEGIN DELETE FROM changes WHERE noun = 'models' AND id = CAST(NEW.id AS TEXT); INSERT INTO changes (noun, id, parent, value) VALUES ('models', CAST(NEW.id AS TEXT), NEW.workspace_id, NEW.user_id);  END;
CREATE TRIGGER change_models_update AFTER UPDATE ON models BEGIN DELETE FROM changes WHERE noun = 'models' AND id = CAST(NEW.id AS TEXT); INSERT INTO changes (noun, id, parent, value) VALUES ('models', CAST(NEW.id AS TEXT), NEW.workspace_id, NEW.user_id);  END;
CREATE TRIGGER change_models_delete AFTER DELETE ON models BEGIN DELETE FROM changes WHERE noun = 'models' AND id = CAST(OLD.id AS TEXT); INSERT INTO changes (noun, id, parent, value, deleted) VALUES ('models', CAST(OLD.id AS TEXT), OLD.workspace_id, OLD.user_id, 1);  END;
CREATE TRIGGER change_modelversions_insert AFTER INSERT ON model_versions BEGIN DELETE FROM changes WHERE noun = 'modelversions' AND id = CAST(NEW.id AS TEXT); INSERT INTO changes (noun, id, parent, value) VALUES ('modelversions', CAST(NEW.id AS TEXT), NEW.model_id, NEW.user_id);  END;
CREATE TRIGGER change_modelversions_update AFTER UPDATE ON model_versions BEGIN DELETE FROM changes WHERE noun = 'modelversions' AND id = CAST(NEW.id AS TEXT); INSERT INTO changes (noun, id, parent, value) VALUES ('modelversions', CAST(NEW.id AS TEXT), NEW.model_id, NEW.user_id);  END;
CREATE TRIGGER change_modelversions_delete AFTER DELETE ON model_versions BEGIN DELETE FROM changes WHERE noun = 'modelversions' AND id = CAST(OLD.id AS TEXT); INSERT INTO changes (noun, id, parent, value, deleted) VALUES ('modelversions', CAST(OLD.id AS TEXT), OLD.model_id, OLD.user_id, 1);  END;
CREATE TRIGGER change_model_workspace AFTER UPDATE OF workspace_id ON models BEGIN DELETE FROM changes WHERE noun = 'modelversions' AND id IN (SELECT CAST(id AS TEXT) FROM model_versions WHERE model_id = NEW.id); INSERT INTO changes (noun, id, parent, value) SELECT 'modelversions', CAST(id AS TEXT), model_id, user_id FROM model_versions WHERE model_id = NEW.id;  END;
