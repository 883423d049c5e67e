"""The choices a caller of Core API makes by name."""

from enum import Enum


class DownloadMode(Enum):
    """Sharing of a download by the workers of a node."""

    LocalWorkersShareDownload = "LOCAL_WORKERS_SHARE_DOWNLOAD"
    NoSharedDownload = "NO_SHARED_DOWNLOAD"


class EarlyExitReason(Enum):
    """Reason why a trial stops before its time."""

    INVALID_HP = "EXITED_REASON_INVALID_HP"
    USER_REQUESTED_STOP = "EXITED_REASON_USER_REQUESTED_STOP"


class PreemptMode(Enum):
    """Ranks that ask whether to leave, and ranks that get the answer."""

    WorkersAskChief = "WORKERS_ASK_CHIEF"
    ChiefOnly = "CHIEF_ONLY"
    WorkersAskMaster = "WORKERS_ASK_MASTER"


class SearcherMode(Enum):
    """Ranks that iterate over searcher operations."""

    WorkersAskChief = "WORKERS_ASK_CHIEF"
    ChiefOnly = "CHEIF_ONLY"  # upstream's spelling; scripts pass the value


class TensorboardMode(Enum):
    """AUTO: the chief writes reported metrics and copies its own files. MANUAL: the script calls
    `train.upload_tensorboard_files`."""

    AUTO = "AUTO"
    MANUAL = "MANUAL"


class Unit(Enum):
    """Unit of a searcher length."""

    EPOCHS = "EPOCHS"
    RECORDS = "RECORDS"
    BATCHES = "BATCHES"
