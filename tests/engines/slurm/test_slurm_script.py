"""The job script against golden files, and which of a submitter's options are refused."""

from dataclasses import replace
from pathlib import Path

import pytest

from determined.engines.model import Device
from determined.engines.slurm.script import Job, check_arguments, job_script, parse_time, time_limit
from determined.errors import InvalidArgument

GOLDEN = Path(__file__).parent / "golden"
GPUS = Job(
    name="det-7.a1.2",
    comment="determined:c1:7.a1.2",
    partition="main",
    nodes=2,
    slots=4,
    device=Device.CUDA,
    order='{"masterUrl":"https://master:8443","allocationId":"7.a1.2","ticket":"t"}',
    python="/shared/venv/bin/python",
    gpu_type="a100",
    sbatch_args=("--time=2:00:00", "--account=vision"),
    output="/shared/jobs/determined-%j.out",
    warning=120,
)
CPUS = replace(GPUS, nodes=1, slots=3, device=Device.CPU, gpu_type=None, sbatch_args=(), output="/a b/%j", warning=0)
AUX = replace(CPUS, slots=0, python="/home/a user/python")


@pytest.mark.parametrize(("name", "job"), [("gpus", GPUS), ("cpus", CPUS), ("aux", AUX)])
def test_script_is_as_written_down(name: str, job: Job) -> None:
    assert job_script(job) == (GOLDEN / f"{name}.sh").read_text()


def test_gpus_that_are_no_gres_are_not_asked_for() -> None:
    assert "--gres" in job_script(GPUS)
    assert "--gres" not in job_script(replace(GPUS, gres=False))


def test_options_of_the_submitter_come_before_ours() -> None:
    lines = job_script(replace(GPUS, sbatch_args=("--qos=x",))).splitlines()
    assert lines[1] == "#SBATCH --qos=x"


@pytest.mark.parametrize(
    "option",
    ["--nodes=3", "-N3", "-N 3", "--partition x", "-p x", "--gres=gpu:1", "--array=1-3", "-J name", "--requeue",
     "--no-requeue", "--export=ALL", "--comment=x", "--parti=x", "--wrap=ls", "--gpus-per-node=2"],
)  # fmt: skip
def test_options_that_the_engine_sets_are_refused(option: str) -> None:
    with pytest.raises(InvalidArgument, match="is set by the master"):
        check_arguments([option], Device.CUDA)


@pytest.mark.parametrize("option", ["time=3", "", "--time=3\n--wrap=ls", "rm -rf /"])
def test_what_is_no_option_is_refused(option: str) -> None:
    with pytest.raises(InvalidArgument, match="is no option"):
        check_arguments([option], Device.CUDA)


def test_cpus_of_a_task_are_the_submitters_where_slots_are_gpus() -> None:
    allowed = ["--cpus-per-task=8", "--mem=10G", "-t 5", "--nodelist=n1", "--gres-flags=enforce-binding"]
    check_arguments(allowed, Device.CUDA)
    with pytest.raises(InvalidArgument, match="a slot is a CPU"):
        check_arguments(["-c8"], Device.CPU)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5", 300), ("5:30", 330), ("1:00:00", 3600), ("1-0", 86400), ("1-2:3", 93780), ("1-2:3:4", 93784)],
)
def test_times_are_read_as_slurm_writes_them(text: str, seconds: int) -> None:
    assert parse_time(text) == seconds


def test_last_time_limit_counts_and_unknown_ones_do_not() -> None:
    assert time_limit(["--time=5", "-t 1:00"]) == 60
    assert time_limit(["--mem=4G"]) is None
    assert parse_time("infinite") is None
