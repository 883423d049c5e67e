"""What a node installs for a task and what the extras of this package install are the same."""

import tomllib
from pathlib import Path

from determined.exec.notebook.kernel import IPYKERNEL
from determined.exec.notebook.server import JUPYTERLAB
from determined.exec.tensorboard.__main__ import TENSORBOARD
from determined.storage import registry

PROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


def test_programs_are_what_their_extras_install() -> None:
    assert EXTRAS[JUPYTERLAB.extra] == list(JUPYTERLAB.requirements)
    assert set(IPYKERNEL.requirements) <= set(EXTRAS[IPYKERNEL.extra])
    assert EXTRAS[TENSORBOARD.extra] == list(TENSORBOARD.requirements)


def test_drivers_of_stores_are_what_their_extras_install() -> None:
    drivers = {kind: section.driver for kind, section in registry.sections().items() if section.driver}
    assert {kind: EXTRAS[kind] for kind in drivers} == {kind: [driver] for kind, driver in drivers.items()}


def test_none_of_them_is_in_the_base_install() -> None:
    base = " ".join(PROJECT["dependencies"])
    assert not [name for name in ("jupyter", "ipykernel", "tensorboard", "s3fs") if name in base]
