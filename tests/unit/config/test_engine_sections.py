"""An engine's folder brings the section of its own in the configs of experiments, tasks and their defaults."""

import subprocess
import sys

import pytest

from determined.config.container_defaults import TaskContainerDefaults, merge_task_container_defaults
from determined.config.engine_sections import engine_options, engine_sections, task_fields
from determined.config.experiment_schema import ExperimentConfig
from determined.config.job import GenericTaskConfig, JobConfig
from determined.engines import registry


@pytest.mark.parametrize("kind", [*engine_sections()])
def test_section_is_that_of_an_engine_of_its_name_and_is_in_every_config(kind: str) -> None:
    section = engine_sections()[kind]
    assert registry.managers()[kind].__module__ == section.__module__.replace("task_section", "config")
    for config in (ExperimentConfig, JobConfig, GenericTaskConfig, TaskContainerDefaults):
        known = config.schema.fields[kind]
        assert (known.node, known.engines) == (section.schema, (kind,))
    assert task_fields()[kind].meaning


def test_engine_is_told_its_own_section_alone() -> None:
    config = ExperimentConfig.load({"slurm": {"gpu_type": "a"}, "pbs": {"slots_per_node": 2}})
    assert engine_options(config, "slurm") == {"gpu_type": "a"}
    assert engine_options(config, "agent") == engine_options(config, "pbs") == {}
    assert engine_options(JobConfig.load({}), "slurm") == {}


@pytest.mark.parametrize(("section", "key"), [("slurm", "sbatch_args"), ("pbs", "pbsbatch_args")])
def test_arguments_of_the_defaults_come_before_those_of_the_config(section: str, key: str) -> None:
    merged = merge_task_container_defaults({section: {key: ["--own"]}}, {section: {key: ["--all"]}})
    assert merged[section][key] == ["--all", "--own"]


def test_configs_load_no_engine() -> None:
    code = (
        "import sys, determined.config;"
        "loaded = {name for name in sys.modules if name.startswith('determined.engines.') and name.count('.') > 2};"
        "assert all(name.endswith('.task_section') for name in loaded), loaded;"
        "assert 'determined.engines.resource_manager' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
