"""An engine is its folder: the registry finds it there, and so do its contract suite and its row of the docs."""

import subprocess
import sys
from pathlib import Path

import pytest

from determined.engines import registry
from determined.engines.resource_manager import ResourceManager

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "determined"
FOLDERS = {kind: section.__module__.split(".")[-2] for kind, section in registry.managers().items()}


def test_the_engines_are_found_in_their_folders() -> None:
    assert {"local", "docker", "ray", "slurm"} <= set(FOLDERS.values())
    assert sorted(FOLDERS.values()) == sorted(file.parent.name for file in (SOURCE / "engines").glob("*/engine.py"))
    assert registry.DEFAULT in FOLDERS
    assert not set(registry.NOT_IMPLEMENTED) & set(FOLDERS)


@pytest.mark.parametrize("folder", FOLDERS.values())
def test_every_engine_has_modules_of_the_same_names(folder: str) -> None:
    names = {file.stem for file in (SOURCE / "engines" / folder).glob("*.py")}
    assert {"config", "engine", "wiring"} <= names


@pytest.mark.parametrize("folder", FOLDERS.values())
def test_every_engine_passes_the_contract_with_a_rig_of_its_own(folder: str) -> None:
    suite = ROOT / "tests" / "engines" / folder
    assert "(EngineRig)" in (suite / f"{folder}_rig.py").read_text()
    assert "(EngineContract)" in (suite / f"test_{folder}_engine.py").read_text()


@pytest.mark.parametrize("kind", FOLDERS)
def test_every_engine_says_where_its_tasks_run_and_has_a_page(kind: str) -> None:
    section = registry.manager(kind)
    assert section.where
    assert (ROOT / "docs" / section.page).is_file()


@pytest.mark.parametrize("kind", FOLDERS)
def test_every_key_of_an_engine_is_in_the_reference(kind: str) -> None:
    reference = (ROOT / "docs" / "reference" / "configuration.md").read_text()
    part = reference.partition(f"### resource_manager of type {kind}\n")[2].partition("\n#")[0]
    section = registry.manager(kind)
    own = {key for key, known in section.schema.fields.items() if not known.legacy} - set(ResourceManager.schema.fields)
    assert {key for key in own if f"| `{key}` |" not in part} == set()


def test_engines_that_find_pools_have_the_function_for_it() -> None:
    for kind, section in registry.managers().items():
        assert hasattr(registry.wiring(kind), "find_pools") == section.finds_pools


def test_a_master_config_is_read_without_the_code_of_engines() -> None:
    script = (
        "import sys; from determined.master.config import load_master_config; load_master_config({}, {}, {});"
        "print([name for name in sys.modules if name.endswith(('.engine', '.wiring', 'asyncio'))])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
