"""Names (DET_*) and numbers that two packages must agree on, each declared once."""

# The release of the official client whose wire we speak; /info answers it so that client does not warn.
API_VERSION = "0.38.1"

# Environment of a task (docs/architecture/task_environment.md). Values are the variable names.
ENV_MASTER = "DET_MASTER"
ENV_MASTER_ADDR = "DET_MASTER_ADDR"
ENV_MASTER_HOST = "DET_MASTER_HOST"
ENV_MASTER_PORT = "DET_MASTER_PORT"
ENV_MASTER_ID = "DET_MASTER_ID"
ENV_MASTER_CERT_FILE = "DET_MASTER_CERT_FILE"
ENV_MASTER_CERT_NAME = "DET_MASTER_CERT_NAME"
ENV_CLUSTER_ID = "DET_CLUSTER_ID"
ENV_AGENT_ID = "DET_AGENT_ID"
ENV_CONTAINER_ID = "DET_CONTAINER_ID"
ENV_RESOURCES_ID = "DET_RESOURCES_ID"
ENV_RESOURCES_TYPE = "DET_RESOURCES_TYPE"
ENV_SLOT_IDS = "DET_SLOT_IDS"
ENV_TASK_ID = "DET_TASK_ID"
ENV_TASK_TYPE = "DET_TASK_TYPE"
ENV_ALLOCATION_ID = "DET_ALLOCATION_ID"
ENV_SESSION_TOKEN = "DET_SESSION_TOKEN"
ENV_USER_TOKEN = "DET_USER_TOKEN"
ENV_USER = "DET_USER"
ENV_PASS = "DET_PASS"
ENV_WORKDIR = "DET_WORKDIR"
ENV_RUN_DIR = "DET_RUN_DIR"
ENV_SERVICE_PREFIX = "DET_SERVICE_PREFIX"  # of the paths under which the task's service answers
ENV_SERVICE_SETTINGS = "DET_SERVICE_SETTINGS"  # file with the settings of the kind's own program
ENV_SERVICE_SOCKET = "DET_SERVICE_SOCKET"  # Unix socket on which the task serves
ENV_EXPERIMENT_ID = "DET_EXPERIMENT_ID"
ENV_EXPERIMENT_CONFIG = "DET_EXPERIMENT_CONFIG"
ENV_TRIAL_ID = "DET_TRIAL_ID"
ENV_TRIAL_RUN_ID = "DET_TRIAL_RUN_ID"
ENV_TRIAL_SEED = "DET_TRIAL_SEED"
ENV_HPARAMS = "DET_HPARAMS"
ENV_STEPS_COMPLETED = "DET_STEPS_COMPLETED"
ENV_LATEST_CHECKPOINT = "DET_LATEST_CHECKPOINT"
ENV_INTER_NODE_NETWORK_INTERFACE = "DET_INTER_NODE_NETWORK_INTERFACE"
ENV_MANUAL_INIT_DISTRIBUTED = "DET_MANUAL_INIT_DISTRIBUTED"
ENV_PYTHON_EXECUTABLE = "DET_PYTHON_EXECUTABLE"
ENV_LOG_WAIT_TIME = "DET_LOG_WAIT_TIME"  # seconds for which programs may write on after the task's own has exited
ENV_CHIEF_IP = "DET_CHIEF_IP"
ENV_DEBUG = "DET_DEBUG"
ENV_CLI_COLORIZE = "DET_CLI_COLORIZE"
ENV_DEBUG_CONFIG_PATH = "DET_DEBUG_CONFIG_PATH"
ENV_RETRY_CONFIG = "DET_RETRY_CONFIG"
# Ours: where info files live when they are not under DET_RUN_DIR/info (tests, off-cluster experiments).
ENV_INFO_DIR = "DET_INFO_DIR"
# Ours: the run directory of the node that ssh logged in to; DET_RUN_DIR there may still be that of the caller.
ENV_SERVED_RUN_DIR = "DET_SERVED_RUN_DIR"
# Ours: where the embedded master keeps its state (default: the user's data directory).
ENV_STATE_DIR = "DET_STATE_DIR"
# Ours: on a node, where the environments of `environment.python` lie, and how many days and GiB of them are kept.
ENV_ENVIRONMENT_CACHE = "DET_ENVIRONMENT_CACHE"
ENV_ENVIRONMENT_CACHE_DAYS = "DET_ENVIRONMENT_CACHE_DAYS"
ENV_ENVIRONMENT_CACHE_GIB = "DET_ENVIRONMENT_CACHE_GIB"

DEFAULT_RUN_DIR = "/run/determined"

ALLOCATION_TOKEN_HEADER = "Grpc-Metadata-x-allocation-token"

# Base64 of it in JSON stays below the 128 MiB that upstream's clients send.
MAX_CONTEXT_BYTES = 95 * 1024 * 1024
# A config is a few thousand characters. It is stored twice, and shown in every list of experiments.
MAX_CONFIG_CHARS = 512 * 1024
# A longer line of a log is cut into several.
MAX_LOG_LINE_BYTES = 8191
# The one line in which a task prints its config starts so; log policies skip it, for it holds their patterns.
CONFIG_LINE_PREFIX = "experiment config: "

# From TERM to KILL for the peers of a rank that failed: once on its own node and once on the others, within 5 s.
PEER_GRACE_SECONDS = 1.5

# What a trial is labelled with whose task died for lack of memory; the first is also the name of a log policy.
GPU_OOM_LABEL = "CUDA OOM"
HOST_OOM_LABEL = "Host OOM"
GPU_MEMORY_ADVICE = (
    "lower hyperparameters.global_batch_size (or the batch size of your loaders) and keep its effect with a higher "
    "aggregation_frequency; compute in bf16 (context.experimental.use_amp(dtype=torch.bfloat16), torch.autocast); on "
    "several slots shard the model (context.wrap_model(model, shard=True)); keep no tensors that hold a graph "
    "(loss.detach())"
)
HOST_MEMORY_ADVICE = (
    "lower num_workers and prefetch_factor of the data loaders; read data from files instead of holding it in memory; "
    "lower hyperparameters.global_batch_size and keep its effect with a higher aggregation_frequency; or give the task "
    "more memory"
)

LOG_FORMAT = "%(levelname)s: [%(process)s] %(name)s: %(message)s"

PASSWORD_SALT = "GubPEmmotfiK9TMD6Zdw"

MASKED = "********"
# Fields of our own types whose values `repr` never shows.
SECRET_FIELDS = frozenset(
    {"token", "user_token", "allocation_token", "session_token", "ticket", "password", "old_password"}
    | {"initial_user_password", "secret", "identity_secret", "identity", "signing_key"}
)

# What a master signs, before the caller's challenge, to prove that it holds the secret of a state file.
IDENTITY_PURPOSE = b"determined master identity:"
# The same, to prove to a task that it is the master which minted the task's token.
ALLOCATION_PURPOSE = b"determined master of allocation:"
