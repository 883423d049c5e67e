"""DetLogger of 0.25 to 0.38: a Lightning logger that opens `core_v2` itself."""

from importlib import import_module

from determined.lightning._logger import DeterminedLogger


class DetLogger(DeterminedLogger):
    """DeterminedLogger for a script that has no Core API context of its own.

    Args:
        defaults, unmanaged, config, client: as for `core_v2.init`.

    Raises:
        NotImplementedError: this process runs in no trial.
    """

    def __init__(
        self, *, defaults: object = None, unmanaged: object = None, config: object = None, client: object = None
    ) -> None:
        core_v2 = import_module("determined.experimental.core_v2")  # by name, as it lies above this package
        core_v2.init(defaults=defaults, unmanaged=unmanaged, config=config, client=client)
        super().__init__(core_v2._context)

    def finalize(self, status: str) -> None:
        """Close what was opened; Lightning calls it at the end of a fit."""
        import_module("determined.experimental.core_v2").close()
