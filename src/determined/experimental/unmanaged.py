"""Upstream's first detached mode (0.23, 0.24): not implemented yet; `core_v2` in a trial is."""

from typing import NoReturn

_REASON = (
    "determined.experimental.unmanaged (detached mode) is not implemented yet; submit the script with det experiment "
    "create and use determined.core.init() there"
)


def init(**options: object) -> NoReturn:
    """Raise NotImplementedError with another way."""
    raise NotImplementedError(_REASON)


def create_unmanaged_experiment(*args: object, **options: object) -> NoReturn:
    """Raise NotImplementedError with another way."""
    raise NotImplementedError(_REASON)


create_unmanaged_trial = create_unmanaged_experiment
create_unmanaged_trial_cluster_info = create_unmanaged_experiment
build_unmanaged_trial_cluster_info = create_unmanaged_experiment
create_unmanaged_cluster_info = create_unmanaged_experiment
url_reverse_webui_exp_view = create_unmanaged_experiment
