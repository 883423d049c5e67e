"""Which loaders a trial may return."""

from pathlib import Path
from typing import Any

import pytest
from made_context import made_context

from determined.pytorch._trial_checks import check_loader


class _Pipeline:
    """A loader of neither torch nor ours."""

    def __iter__(self) -> Any:
        return iter([1, 2])


def test_a_foreign_loader_is_refused_with_the_way_to_have_it_taken(tmp_path: Path) -> None:
    words = r"build_x returned a _Pipeline; return a determined\.pytorch.*disable_dataset_reproducibility_checks\(\)"
    with pytest.raises(TypeError, match=words):
        check_loader(_Pipeline(), "build_x", made_context(tmp_path))


def test_any_iterable_is_taken_once_the_checks_are_off(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    context.experimental.disable_dataset_reproducibility_checks()
    loader = _Pipeline()
    assert check_loader(loader, "build_x", context) is loader
    with pytest.raises(TypeError, match="build_x returned a int"):
        check_loader(5, "build_x", context)
