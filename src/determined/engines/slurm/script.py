"""The text of a job: what Slurm is asked for, and the one command that brings up a sitter on each node. Pure."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from determined.engines.model import Device
from determined.errors import InvalidArgument

# Only what a shell needs reaches the job: the master's own variables are not for tasks.
EXPORTED = "HOME,LANG,LOGNAME,PATH,SHELL,SLURM_CONF,USER"

_OURS = {
    "array": ("-a", "a trial is one job; start more trials instead"),
    "chdir": ("-D", "tasks start in their own run directory"),
    "comment": ("", "the master finds its jobs by it"),
    "error": ("-e", "see resource_manager.job_storage_root"),
    "export": ("", "use environment.environment_variables"),
    "gpus": ("-G", "use resources.slots_per_trial"),
    "gpus-per-node": ("", "use resources.slots_per_trial and slurm.slots_per_node"),
    "gpus-per-task": ("", "use resources.slots_per_trial and slurm.slots_per_node"),
    "gres": ("", "use resources.slots_per_trial and slurm.gpu_type"),
    "input": ("-i", "the master's order is read from there"),
    "job-name": ("-J", "use the experiment's name"),
    "no-requeue": ("", "it is always set: the master starts a trial again itself"),
    "nodes": ("-N", "use resources.slots_per_trial and slurm.slots_per_node"),
    "ntasks": ("-n", "one task runs on each node; use resources.slots_per_trial"),
    "ntasks-per-node": ("", "one task runs on each node; use resources.slots_per_trial"),
    "output": ("-o", "see resource_manager.job_storage_root"),
    "parsable": ("", "the master reads the answer of sbatch"),
    "partition": ("-p", "use resources.resource_pool"),
    "requeue": ("", "the master starts a trial again itself, from its latest checkpoint"),
    "signal": ("", "see resource_manager.time_limit_warning"),
    "test-only": ("", "nothing would run"),
    "wait": ("-W", "the master does not wait for sbatch"),
    "wrap": ("", "the master writes the script"),
}
_CPUS = {"cpus-per-task": ("-c", "a slot is a CPU here; use resources.slots_per_trial")}


@dataclass(frozen=True, slots=True)
class Job:
    """Allocation as a job.

    `order` is one line of JSON for each of its sitters; `warning`: seconds before the time limit.
    """

    name: str
    comment: str
    partition: str
    nodes: int
    slots: int
    device: Device
    order: str
    python: str
    gpu_type: str | None = None
    gres: bool = True
    sbatch_args: tuple[str, ...] = ()
    output: str = "/dev/null"
    warning: int = 0


def job_script(job: Job) -> str:
    """Return the script for sbatch.

    The submitter's options come first: of two that disagree Slurm takes the later one.
    """
    options = [*job.sbatch_args, *map(shlex.quote, _options(job))]
    # exec: no shell stays that a signal could end before the sitters. --wait=0: a rank may leave long before the last.
    srun = "exec srun --kill-on-bad-exit=1 --wait=0 --ntasks-per-node=1 --mpi=none"
    return "\n".join(
        [
            "#!/bin/bash",
            *(f"#SBATCH {option}" for option in options),
            # Since Slurm 22.05 srun no longer takes this from the job itself.
            'export SRUN_CPUS_PER_TASK="${SLURM_CPUS_PER_TASK:-1}"',
            f"{srun} {shlex.quote(job.python)} -P -m determined.engines.remote.sitter --place <<'DET_ORDER'",
            job.order,
            "DET_ORDER",
            "",
        ]
    )


def check_arguments(sbatch_args: Sequence[str], device: Device) -> None:
    """Check the options. Raises InvalidArgument for those that the engine sets itself, and for what is no option."""
    refused = {**_OURS, **_CPUS} if device is Device.CPU else _OURS
    short = {words[0]: name for name, words in refused.items() if words[0]}
    for text in sbatch_args:
        # Bare dashes: sbatch reads no option behind `--`, and ours come behind.
        if not text.startswith("-") or not text.strip("- ") or "\n" in text or "\r" in text:
            raise InvalidArgument(f"slurm.sbatch_args: {text!r} is no option; write one as '--time=2:00:00'")
        for word in _words(text):
            name = short.get(word[:2]) if not word.startswith("--") else _long_name(word, refused)
            if name in refused:
                raise InvalidArgument(f"slurm.sbatch_args: {text!r} is set by the master: {refused[name][1]}")


def time_limit(sbatch_args: Sequence[str]) -> int | None:
    """Return the seconds of the submitter's --time; None where there is none, or none that we can read."""
    limit = None
    for text in sbatch_args:
        match = re.fullmatch(r"(?:--time[= ]|-t ?)\s*(\S+)", text.strip())
        limit = parse_time(match[1]) if match else limit
    return limit


def parse_time(text: str) -> int | None:
    """Parse Slurm's ways to write a time.

    These are minutes, minutes:seconds, hours:minutes:seconds, days-hours[:minutes[:seconds]].
    """
    match = re.fullmatch(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?", text.strip())
    if match is None:
        return None
    days, first, second, third = (int(part) if part else 0 for part in match.groups())
    if match[1] is not None:
        return ((days * 24 + first) * 60 + second) * 60 + third
    return (first * 60 + second) * 60 + third if match[4] is not None else first * 60 + second


def _options(job: Job) -> list[str]:
    options = [
        f"--job-name={job.name}",
        f"--comment={job.comment}",
        f"--partition={job.partition}",
        f"--nodes={job.nodes}",
        f"--ntasks={job.nodes}",
        "--ntasks-per-node=1",
        *_slots(job),
        # A job that Slurm starts again would find its tickets spent; the master starts the trial again instead.
        "--no-requeue",
        f"--export={EXPORTED}",
        "--chdir=/",
        f"--output={job.output}",
        "--open-mode=append",
    ]
    return [*options, f"--signal=TERM@{job.warning}"] if job.warning else options


def _slots(job: Job) -> list[str]:
    if job.device is Device.CPU:
        return [f"--cpus-per-task={max(1, job.slots)}"]
    if not job.slots or not job.gres:
        return []
    kind = f":{job.gpu_type}" if job.gpu_type else ""
    return [f"--gres=gpu{kind}:{job.slots}"]


def _words(text: str) -> list[str]:
    """Return the options in one text: sbatch takes several of them from a line."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()  # an open quote: sbatch says so itself
    return [word for word in words if word.startswith("-")]


def _long_name(text: str, refused: dict[str, tuple[str, str]]) -> str | None:
    """Return the long name of an option. sbatch takes any unambiguous prefix; one that could be ours counts as ours."""
    given = re.split(r"[= ]", text[2:], maxsplit=1)[0]
    begun = (name for name in refused if len(given) > 2 and name.startswith(given))
    return given if given in refused else next(begun, None)
