"""The public names of the room load lazily and are what they say."""

import subprocess
import sys

import pytest

import determined.config


@pytest.mark.parametrize("name", determined.config.__all__)
def test_every_public_name_is_there_and_no_module(name: str) -> None:
    value = getattr(determined.config, name)
    assert type(value).__name__ != "module"


def test_public_names_are_sorted_and_all_have_a_home() -> None:
    homes = " ".join(determined.config._HOMES.values()).split()
    assert sorted(homes) == sorted(determined.config.__all__)
    assert determined.config.__all__ == sorted(determined.config.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        determined.config.nonsense  # noqa: B018


def test_a_command_line_edit_loads_neither_schema_nor_regex_engine() -> None:
    code = (
        "import sys, determined.config as c; c.apply_overrides({}, ['a=1']); "
        "assert not {'determined.config.experiment_schema', 're2', 'msgspec'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
