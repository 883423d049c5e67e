"""DetLogger of 0.25 to 0.38: a Lightning logger that opens `core_v2` itself."""

import sys
from importlib import import_module
from typing import Any

from determined import core
from determined._info import ClusterInfo, get_cluster_info, trial_of
from determined._json import JsonObject
from determined.lightning import _flavour
from determined.lightning._logger import DeterminedLogger


class DetLogger(DeterminedLogger):
    """DeterminedLogger for a script that has no Core API context of its own.

    It opens one when the first metrics are logged: outside of the cluster the script becomes a trial of its own then.
    The end of a fit closes it. A `test` or a fit that follows goes on with the same trial.

    Args:
        defaults, unmanaged, config, client: as for `core_v2.init`.

    Example:
        >>> trainer = L.Trainer(logger=DetLogger(config=core_v2.Config(name="mnist")))
    """

    def __init__(
        self, *, defaults: object = None, unmanaged: object = None, config: object = None, client: object = None
    ) -> None:
        self._opened: core.Context | None = None
        self._closed: ClusterInfo | None = None  # the trial of an earlier fit
        super().__init__(None)  # type: ignore[arg-type]  # the context is opened when it is needed
        self._version = "unopened"
        self._options = {"defaults": defaults, "unmanaged": unmanaged, "config": config, "client": client}

    @property
    def _core(self) -> core.Context:
        if self._opened is None:
            self._opened = self._open()
            self._version = super().version
        return self._opened

    @_core.setter
    def _core(self, context: core.Context | None) -> None:
        self._opened = context

    def _open(self) -> core.Context:
        """Open the trial; the same one again where an earlier fit has closed it."""
        core_v2 = _core_v2()
        if self._closed is not None and trial_of(get_cluster_info()) is None:
            core_v2._reopen(self._closed, self._options["client"])
        else:
            core_v2.init(**self._options)
        opened: core.Context = core_v2._context
        return opened

    @property
    def version(self) -> str:
        """`trial-<id>` once metrics were logged."""
        return self._version

    def log_metrics(self, metrics: JsonObject, step: int | None = None) -> None:
        """Report metrics, on the process of rank 0."""
        if _flavour.rank() == 0:
            super().log_metrics(metrics, step)

    @property
    def experiment(self) -> "core.Context | NoContext":
        """The Core API context on the process of rank 0, opened if need be; its peers get one that does nothing."""
        return self._core if _flavour.rank() == 0 else NoContext()

    def finalize(self, status: str) -> None:
        """Close what was opened; Lightning calls it at the end of a fit, with "failed" in its `except` block."""
        if self._opened is None:
            return  # on another rank than 0, or nothing was logged
        self._closed = self._opened.info
        # Only the status counts: Lightning also ends a successful fit inside of an `except` block.
        _core_v2()._close(None if status == "success" else sys.exc_info()[1] or FitFailed(status))
        self._opened = None


class NoContext:
    """Core API context of a process that does not report: every call of it does nothing."""

    def __getattr__(self, name: str) -> "NoContext":
        return self

    def __call__(self, *args: object, **kwargs: object) -> None: ...


class FitFailed(Exception):
    """End of a fit with another status than "success", where no exception is at hand."""


def _core_v2() -> Any:
    return import_module("determined.experimental.core_v2")  # by name, as it lies above this package
