"""Rules by which rows of upstream are changed, left out or left to people; the report names each that was applied."""

from determined.master.importing import shared_rules
from determined.master.importing.notes import Outcome, Rule

_CHANGED, _LEFT_OUT, _BY_HAND = Outcome.CHANGED, Outcome.LEFT_OUT, Outcome.BY_HAND

LIVE = Rule(
    "live",
    _CHANGED,
    "Experiments and trials that were not over are CANCELED; `det e continue` or a fork goes on with them.",
)
CONFIG = Rule(
    "config",
    _CHANGED,
    "Configs with values that are no longer valid: those were replaced by defaults; see originalConfig.",
)
REQUEST_ID = Rule("request_id", _CHANGED, "Trials without a request id got one derived from their id.")
TASK_ID = Rule("task_id", _CHANGED, "Trials without a task got one named after their request id.")
PROJECT_KEY = Rule("project_key", _CHANGED, "Projects without a key got one made from their name.")
CLUSTER_ADMIN = Rule("cluster_admin", _CHANGED, "Members of ClusterAdmin are administrators here.")
GROUP_NAME = Rule("group_name", _CHANGED, "Metric groups with a `.` in their names have a `_` instead.")
LOG_BYTES = Rule("log_bytes", _CHANGED, "Log lines with bytes that are no text: those bytes became U+FFFD.")
ARCHIVED = Rule(
    "archived_metrics", _LEFT_OUT, "Metrics that upstream hid because a later run had gone back before their step."
)
BAD_METRICS = Rule(
    "bad_metrics", _LEFT_OUT, "Metrics whose JSON has another form than upstream writes, or an unusable name."
)
PROFILING = Rule(
    "profiling",
    _LEFT_OUT,
    "System metrics (GPU, CPU, memory) of upstream's profiler, which come with --with-profiling.",
)
OLD_PROFILING = Rule(
    "old_profiling", _LEFT_OUT, "System metrics of the profiler as it was until spring 2024: not implemented."
)
OTHER_TASKS = Rule(
    "other_tasks",
    _LEFT_OUT,
    "Tasks of no trial (commands, notebooks, shells, TensorBoards, garbage collection): not implemented.",
)
OTHER_LOGS = Rule("other_logs", _LEFT_OUT, "Log lines of tasks of no trial, which are not taken.")
NAMESPACES = Rule(
    "namespaces",
    _LEFT_OUT,
    "Namespaces of workspaces: they belong to Kubernetes, which this version has not; leftover/namespace-bindings.yaml"
    " lists them.",
)
PROFILE_IMAGES = Rule("profile_images", _LEFT_OUT, "Pictures of users: there is no place for them here.")
SEARCHES = Rule(
    "searches",
    _LEFT_OUT,
    "States of searches: their experiments come as CANCELED, and a fork begins a search of its own.",
)
LOCAL_IDS = Rule(
    "local_ids", _LEFT_OUT, "Numbers of trials within their project (KEY-12): trials are known by their ids here."
)
SESSIONS = Rule("sessions", _LEFT_OUT, "Sessions that were logged in: upstream has signed them; log in again.")
INVALID_BINDINGS = Rule("invalid_bindings", _LEFT_OUT, "Pools of workspaces that upstream calls no longer valid.")
HARDWARE = Rule("hardware", _LEFT_OUT, "Containers and accelerators of past allocations: there is no place for them.")
INTERNALS = Rule(
    "internals",
    _LEFT_OUT,
    "Upstream's own records: usage by day, statistics of agents and tasks, cluster messages, OAuth and SCIM clients.",
)
LOGS = Rule("logs", _LEFT_OUT, "Task logs, because of --no-logs.")
LOST_LOGS = Rule("lost_logs", _LEFT_OUT, "Log lines of tasks that belong to no trial that is taken.")
LOST_CHECKPOINTS = Rule("lost_checkpoints", _LEFT_OUT, "Checkpoints that belong to no trial that is taken.")
BLANK_PASSWORD = Rule(
    "blank_password", _BY_HAND, "Users with a blank password: set one with `det user change-password`."
)
ACCESS_TOKENS = Rule(
    "access_tokens", _BY_HAND, "Access tokens are signed by upstream: make them anew, `det token create`."
)
ROLES = Rule("roles", _BY_HAND, "Roles of single users have no place here yet; leftover/roles.yaml lists them.")
GROUPS = Rule("groups", _BY_HAND, "Groups and roles have no place here yet; leftover/groups.yaml lists them.")
STORAGE_GONE = Rule(
    "storage_gone",
    _CHANGED,
    "Checkpoints whose storage upstream's database does not have any more: looked for in the storage of their config.",
)
TAKEN = Rule(
    "taken",
    _LEFT_OUT,
    "Models, versions, templates and webhooks whose id or name something of this cluster has: rename or delete it,"
    " import again.",
)
MISSING_COLUMNS = Rule(
    "missing_columns", _LEFT_OUT, "Kinds whose tables lack columns in the source, or that its role may not see."
)
OLDER_SCHEMA = Rule(
    "older_schema",
    _LEFT_OUT,
    "Columns that the source's schema does not have yet, or that its role may not see: nothing was read for them.",
)
LOST_VERSIONS = Rule(
    "lost_versions", _LEFT_OUT, "Versions of models whose model or checkpoint is not taken; a later import takes them."
)
LOST_LINEAGE = Rule("lost_lineage", _LEFT_OUT, "Trials that work with a checkpoint that is not taken.")
BAD_TEMPLATE = Rule("bad_template", _LEFT_OUT, "Templates that cannot be stored here.")
BAD_TRIGGER = Rule("bad_trigger", _LEFT_OUT, "Triggers of webhooks whose condition this master does not understand.")
WEBHOOKS = Rule(
    "webhooks", _BY_HAND, "Webhooks are in effect. This cluster signs with its own key: tell their receivers."
)
STORAGE_UNREACHABLE = Rule(
    "storage_unreachable",
    _BY_HAND,
    "Storages that --check-files cannot reach from here; their files were not compared.",
)
FILES_DIFFER = Rule("files_differ", _BY_HAND, "Sampled checkpoints whose files are missing or have another size.")
POLICIES = Rule("policies", _BY_HAND, "Config policies are not imported yet; leftover/policies.yaml has them.")
POOLS = Rule(
    "pools",
    _BY_HAND,
    "Resource pools of experiments that this master's config does not have; a fork has to name another.",
)

RULES = {**shared_rules.RULES, **{rule.name: rule for rule in list(globals().values()) if isinstance(rule, Rule)}}
