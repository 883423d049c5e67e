"""Exception tree. Each class has a wire code and an HTTP status; the client raises the class the server raised.

    Exception
    └── DeterminedError                     500 internal
        ├── InvalidArgument                 400 invalid_argument
        │   └── InvalidConfig               400 invalid_config      (every violation, one per line)
        ├── Unauthenticated                 401 unauthenticated
        ├── Forbidden                       403 forbidden
        ├── NotFound                        404 not_found
        ├── AlreadyExists                   409 already_exists
        ├── Conflict                        409 conflict            (a report with a gap or a differing value)
        ├── FailedPrecondition              400 failed_precondition (incompatible state)
        ├── Gone                            410 gone                (a stale run; its runner must end)
        ├── TooLarge                        413 too_large
        ├── RangeNotSatisfiable             416 range_not_satisfiable (a part of a file that is past its end)
        ├── TooManyRequests                 429 too_many_requests   (wait and try again)
        ├── BadGateway                      502 bad_gateway         (an app behind the proxy answers nonsense)
        ├── Unavailable                     503 unavailable         (shutting down, database away)
        ├── EnvironmentUnusable             400 environment_unusable (packages that cannot be had)
        ├── MasterNotFound                  client only: nobody answers
        └── BadMaster                       client only: somebody answers, but not a Determined master

Upstream's names for harness errors follow below the tree; user code imports them from here.
"""

from typing import Any, ClassVar


class DeterminedError(Exception):
    """Base of all our errors. `message` says what, which value, and what to do."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    grpc: ClassVar[int] = 13

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    @property
    def status_code(self) -> int:
        """Upstream's name for `status`."""
        return self.status

    @property
    def response_error(self) -> dict[str, Any]:
        """Upstream's name for the error in the master's answer."""
        return {"code": self.grpc, "reason": self.code, "error": self.message, "details": self.details}


class InvalidArgument(DeterminedError):
    code, status, grpc = "invalid_argument", 400, 3


class InvalidConfig(InvalidArgument):
    """A config that cannot be used. `violations` holds one `<config>.path: reason` line each."""

    code = "invalid_config"

    def __init__(self, message: str, violations: list[str] | None = None) -> None:
        self.violations = sorted(violations or [])
        super().__init__("\n".join([message, *self.violations]), violations=self.violations)


class Unauthenticated(DeterminedError):
    code, status, grpc = "unauthenticated", 401, 16


class Forbidden(DeterminedError):
    code, status, grpc = "forbidden", 403, 7


class NotFound(DeterminedError):
    code, status, grpc = "not_found", 404, 5


class AlreadyExists(DeterminedError):
    code, status, grpc = "already_exists", 409, 6


class Conflict(DeterminedError):
    code, status, grpc = "conflict", 409, 10


class FailedPrecondition(DeterminedError):
    code, status, grpc = "failed_precondition", 400, 9


class Gone(DeterminedError):
    code, status, grpc = "gone", 410, 9


class TooLarge(DeterminedError):
    code, status, grpc = "too_large", 413, 8


class RangeNotSatisfiable(DeterminedError):
    code, status, grpc = "range_not_satisfiable", 416, 11


class TooManyRequests(DeterminedError):
    code, status, grpc = "too_many_requests", 429, 8


class BadGateway(DeterminedError):
    code, status, grpc = "bad_gateway", 502, 14


class Unavailable(DeterminedError):
    code, status, grpc = "unavailable", 503, 14


class EnvironmentUnusable(DeterminedError):
    """The environment that a config asks for cannot be made, and another try would not help."""

    code, status, grpc = "environment_unusable", 400, 9


class MasterNotFound(DeterminedError):
    code = "master_not_found"


class BadMaster(DeterminedError):
    code = "bad_master"


BY_CODE: dict[str, type[DeterminedError]] = {
    cls.code: cls
    for cls in (
        InvalidArgument, InvalidConfig, Unauthenticated, Forbidden, NotFound, AlreadyExists,
        Conflict, FailedPrecondition, Gone, TooLarge, TooManyRequests, BadGateway, Unavailable,
    )
}  # fmt: skip


class InvalidHP(Exception):
    """Raised by user code: these hyperparameters cannot be trained. Ends the trial cleanly inside a core context."""

    def __init__(self, msg: str = "...") -> None:
        if not isinstance(msg, str):
            raise TypeError(f"InvalidHP needs a str message, got {type(msg).__name__}; pass the reason as text")
        super().__init__(msg)
        self.msg = msg


class InternalException(DeterminedError):
    """A fault of the platform, not of user code."""

    def __init__(self, message: str) -> None:
        super().__init__(f"Internal error: {message}")


class InvalidExperimentException(BaseException):
    """User code that cannot be trained. Not an Exception: a broad `except Exception` must not swallow it."""


class InvalidDataTypeException(InvalidExperimentException):
    def __init__(self, typ: type, message: str) -> None:
        super().__init__(f"invalid data type {typ.__name__}: {message}")


class InvalidConfigurationException(InvalidExperimentException):
    def __init__(self, config: Any, message: str) -> None:
        super().__init__(f"invalid configuration: {message}")
        self.config = config


class InvalidModelException(InvalidExperimentException):
    pass


class InvalidCheckpointException(Exception):
    def __init__(self) -> None:
        super().__init__("no valid checkpoint found")


class WorkerError(Exception):
    pass


class WorkerFinishedGracefully(Exception):
    pass


class SkipWorkloadException(Exception):
    pass


class StopLoadingImplementation(Exception):
    pass


class CheckpointNotFound(DeterminedError):
    code, status, grpc = "checkpoint_not_found", 404, 5


class CheckpointStateException(DeterminedError):
    code, status, grpc = "checkpoint_state", 400, 9


class CheckpointDamaged(DeterminedError):
    """A stored file differs from what its manifest says (size or hash)."""

    code, status, grpc = "checkpoint_damaged", 409, 15


class CheckpointNotStored(DeterminedError):
    """A checkpoint was written, but not where the master and the next run look for it; it is not reported."""


class UnsafeCheckpoint(DeterminedError):
    """A checkpoint that is not loaded because it holds more than values: unpickling it could run any code."""

    code, status, grpc = "unsafe_checkpoint", 400, 9


class TrialNotImportable(DeterminedError, ImportError):
    """The code that lies in a checkpoint, or a library that it needs, cannot be imported here."""

    code, status, grpc = "trial_not_importable", 400, 9


class NoDirectStorageAccess(DeterminedError):
    code = "no_direct_storage_access"


class ProxiedDownloadFailed(DeterminedError):
    code = "proxied_download_failed"


class MultipleDownloadsFailed(DeterminedError):
    code = "multiple_downloads_failed"


class EnterpriseOnlyError(DeterminedError):
    code = "enterprise_only"
