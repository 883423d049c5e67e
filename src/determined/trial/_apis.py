"""Which training API a trial class belongs to. Each is a package with `_entrypoint.run_trial` and `_one_batch.run`."""

_PACKAGES = ("determined.estimator", "determined.keras", "determined.pytorch", "determined.pytorch.deepspeed")


def training_api_of(trial_class: type) -> str | None:
    """The package of the nearest base class that one of them has; None: it derives from none of theirs."""
    found = (_package_of(base.__module__) for base in trial_class.__mro__)
    return next((package for package in found if package is not None), None)


def _package_of(module: str) -> str | None:
    """The longest: DeepSpeed's lies within that of PyTorch."""
    return max((package for package in _PACKAGES if f"{module}.".startswith(f"{package}.")), key=len, default=None)
