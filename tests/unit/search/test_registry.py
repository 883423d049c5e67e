"""Searchers and samplers are found by their files, and a process loads only those that it names."""

import subprocess
import sys

import pytest

from determined.errors import InvalidConfig
from determined.search import registry
from determined.search.generations import generation
from determined.search.searcher_config import SearcherConfig


@pytest.mark.parametrize("name", [*registry.searchers()])
def test_searcher_declares_itself_in_the_module_of_its_name(name: str) -> None:
    searcher = registry.searchers()[name]
    folder = "methods.classic" if searcher.generations == {"classic"} else "methods"
    assert searcher.__module__ == f"determined.search.{folder}.{name}"
    assert searcher.__doc__


@pytest.mark.parametrize("name", [*registry.searchers()])
def test_generation_of_a_config_is_one_that_its_searcher_has(name: str) -> None:
    searcher = registry.searchers()[name]
    length = {"max_length": 3} if "max_length" in searcher.schema.fields else {}
    timed = {"time_metric": "batches", "max_time": 3} if "max_time" in searcher.schema.fields else {}
    chosen = {generation({"searcher": {"name": name, **given}}) for given in ({}, length, timed)}
    assert chosen <= searcher.generations


@pytest.mark.parametrize("name", [*registry.samplers()])
def test_sampler_declares_itself_in_the_module_of_its_name(name: str) -> None:
    sampler = registry.samplers()[name]
    assert sampler.__module__ == f"determined.search.samplers.{name}"
    assert sampler.__doc__


@pytest.mark.parametrize("name", [None, "", "nonsense", 3, ["single"]])
def test_anything_but_a_name_finds_nothing(name: object) -> None:
    assert registry.find_searcher(name) is None
    assert registry.find_sampler(name) is None


def test_config_without_a_searcher_has_the_usual_traits() -> None:
    assert registry.searcher_of({}) is SearcherConfig
    assert registry.searcher_of({"searcher": None}) is SearcherConfig


@pytest.mark.parametrize(("name", "expected"), [("single", False), ("grid", True), ("nonsense", True), (None, True)])
def test_only_a_single_search_is_known_to_have_one_trial(name: str | None, expected: bool) -> None:
    assert registry.is_multi_trial(name) is expected


def test_incomplete_section_is_typed_where_that_is_allowed() -> None:
    with pytest.raises(InvalidConfig, match="`max_trials` is a required property"):
        registry.load_searcher({"name": "random"})
    assert registry.load_searcher({"name": "random"}, whole=False).name == "random"


def test_generation_of_a_config_is_known_without_loading_its_searcher() -> None:
    code = (
        "import sys; from determined.search.generations import generation;"
        "assert generation({'searcher': {'name': 'grid', 'max_length': 3}}) == 'classic';"
        "assert generation({'searcher': {'name': 'pbt'}}) == 'classic';"
        "assert generation({'searcher': {'name': ''}}) == generation({'searcher': {'name': 3}}) == 'late';"
        "assert not {'determined.search.registry', 'determined.schema'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_registry_loads_the_searcher_that_is_asked_for_alone() -> None:
    code = (
        "import sys; from determined.search.registry import find_searcher; assert find_searcher('grid').uses_counts;"
        "assert not {'determined.search.methods.random', 'determined.search.samplers.tpe', 'optuna', 'cmaes', 'numpy'}"
        " & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
