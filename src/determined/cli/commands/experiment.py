"""det experiment: its commands by name. Each is imported when it is chosen, as all of them take as long as a submit."""

from determined.cli.grammar import deferred, group

TREE = group(
    "experiment e",
    "manage experiments",
    deferred("list ls", "list experiments", "experiment_actions:LIST", default=True),
    deferred("create", "create experiment", "experiment_create:COMMAND"),
    deferred("continue", "continue experiment", "experiment_actions:CONTINUE"),
    deferred("extend", "extend experiment", "experiment_actions:EXTEND"),
    deferred("activate unpause", "activate experiment", "experiment_actions:ACTIVATE"),
    deferred("pause", "pause experiment", "experiment_actions:PAUSE"),
    deferred("cancel", "cancel experiment", "experiment_actions:CANCEL"),
    deferred("kill", "kill experiment", "experiment_actions:KILL"),
    deferred("archive", "archive experiment", "experiment_actions:ARCHIVE"),
    deferred("unarchive", "unarchive experiment", "experiment_actions:UNARCHIVE"),
    deferred("delete", "delete experiment", "experiment_actions:DELETE"),
    deferred("delete-tb-files", "delete TensorBoard files", "experiment_actions:DELETE_TB_FILES"),
    deferred("config", "display experiment config", "experiment_actions:CONFIG"),
    deferred("fork", "submit config and code of experiment again, with changes", "experiment_again:FORK"),
    deferred(
        "reproduce", "run experiment again with the same config, code, seeds and packages", "experiment_again:REPRODUCE"
    ),
    deferred("lock", "print the resolved packages of environment.python", "experiment_again:LOCK"),
    deferred("describe", "describe experiment", "experiment_describe:DESCRIBE"),
    deferred("list-trials lt", "list trials", "experiment_describe:LIST_TRIALS"),
    deferred("list-checkpoints lc", "list checkpoints", "experiment_describe:LIST_CHECKPOINTS"),
    deferred("download", "download checkpoints", "experiment_describe:DOWNLOAD"),
    deferred("export", "export experiments to a file or to MLflow", "experiment_export:COMMAND"),
    deferred("download-model-def", "download model definition", "experiment_actions:DOWNLOAD_MODEL_DEF"),
    deferred("label", "manage labels", "experiment_actions:LABEL"),
    deferred("logs", "fetch experiment logs", "experiment_actions:LOGS"),
    deferred("move", "move experiment", "experiment_actions:MOVE"),
    deferred("set", "set an attribute", "experiment_set:GROUP"),
    deferred("wait", "wait for experiment", "experiment_actions:WAIT"),
)
