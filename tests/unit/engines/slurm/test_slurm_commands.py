"""How Slurm's commands are called and read: programs of a test print what real ones print, odd cases too."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from determined.engines.slurm import commands
from determined.engines.slurm.commands import Slurm
from determined.errors import FailedPrecondition, Unavailable

Command = Callable[..., None]


@pytest.fixture
def slurm(tmp_path: Path) -> Slurm:
    return Slurm(str(tmp_path))


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """`command("squeue", "text", status=1, error="...")`: writes a program that answers so and notes its arguments."""

    def write(name: str, output: str = "", *, status: int = 0, error: str = "") -> None:
        (tmp_path / f"{name}.out").write_text(output)
        (tmp_path / f"{name}.err").write_text(error)
        program = tmp_path / name
        program.write_text(
            f'#!/bin/sh\nprintf "%s\\n" "$@" > {program}.args\ncat > {program}.input\n'
            f"cat {program}.err >&2\ncat {program}.out\nexit {status}\n"
        )
        program.chmod(0o755)

    return write


@pytest.mark.parametrize(
    ("answer", "number"),
    [("17\n", 17), ("17;cluster\n", 17), ("sbatch: a word of a plug-in\n18\n", 18), ("19", 19)],
)
async def test_number_of_a_job_is_the_last_line_of_sbatch(
    slurm: Slurm, command: Command, answer: str, number: int
) -> None:
    command("sbatch", answer)
    assert await slurm.submit("#!/bin/bash\n") == number


@pytest.mark.parametrize("answer", ["", "\n", "Submitted batch job 17\n", "-3\n", "17x\n"])
async def test_sbatch_that_names_no_job_may_have_taken_it(slurm: Slurm, command: Command, answer: str) -> None:
    """Unavailable, not refused: the job is looked for by its mark."""
    command("sbatch", answer)
    with pytest.raises(Unavailable, match="which is no job id"):
        await slurm.submit("#!/bin/bash\n")


async def test_script_reaches_sbatch_whole_however_long_it_is(slurm: Slurm, command: Command, tmp_path: Path) -> None:
    command("sbatch", "1\n")
    script = "#!/bin/bash\n" + "# ü a long line\n" * 20_000
    await slurm.submit(script)
    assert (tmp_path / "sbatch.input").read_text(encoding="utf-8") == script


async def test_sbatch_that_does_not_read_its_script_is_judged_by_its_answer(slurm: Slurm, tmp_path: Path) -> None:
    program = tmp_path / "sbatch"
    program.write_text("#!/bin/sh\necho 'sbatch: error: Batch job submission failed: Invalid account' >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(FailedPrecondition, match="sbatch: sbatch: error: Batch job submission failed: Invalid account"):
        await slurm.submit("#" * 1_000_000)


@pytest.mark.parametrize(
    "words",
    [
        "slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
        "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
        "Transport endpoint is not connected",
        "Resource temporarily unavailable",
        "slurm_load_jobs error: Unexpected message received, TRY AGAIN",
        "AssocMaxSubmitJobLimit",
        "QOSMaxSubmitJobPerUserLimit",
    ],
)
async def test_controller_that_is_away_or_full_is_asked_again_later(slurm: Slurm, command: Command, words: str) -> None:
    command("squeue", status=1, error=words)
    with pytest.raises(Unavailable, match="squeue: "):
        await slurm.jobs()


async def test_command_that_fails_without_a_word_says_so(slurm: Slurm, command: Command) -> None:
    command("sinfo", status=1)
    with pytest.raises(FailedPrecondition, match="sinfo: failed without a word"):
        await slurm.hosts()


async def test_missing_command_is_named_with_what_to_do(slurm: Slurm, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=f"{tmp_path}/sinfo cannot be run.*install Slurm's commands"):
        await slurm.hosts()


async def test_command_that_hangs_is_killed(slurm: Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "_SECONDS", 0.2)
    program = tmp_path / "squeue"
    program.write_text("#!/bin/sh\nexec sleep 1000\n")
    program.chmod(0o755)
    before = psutil.Process().children()
    with pytest.raises(Unavailable, match="squeue did not answer within"):
        await slurm.jobs()
    assert psutil.Process().children() == before


async def test_caller_that_gives_up_leaves_no_process(slurm: Slurm, tmp_path: Path) -> None:
    program = tmp_path / "squeue"
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/new\nmv {tmp_path}/new {tmp_path}/pid\nexec sleep 1000\n")
    program.chmod(0o755)
    asking = asyncio.create_task(slurm.jobs())
    async with asyncio.timeout(60):
        while not (tmp_path / "pid").exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))


async def test_own_jobs_are_read_with_everything_squeue_says(slurm: Slurm, command: Command, tmp_path: Path) -> None:
    command("squeue", "17|RUNNING|n[1-2]|None|determined:c1:7.a.1\n18|PENDING||Resources|(null)\n")
    first, second = await slurm.jobs()
    assert (first.id, first.state, first.nodes, first.reason, first.tag) == (
        17, "RUNNING", "n[1-2]", "None", "determined:c1:7.a.1",
    )  # fmt: skip
    assert (second.id, second.nodes, second.reason) == (18, "", "Resources")
    asked = (tmp_path / "squeue.args").read_text().split("\n")
    assert asked[asked.index("-t") + 1] == "all", "also those that are over"
    assert asked[asked.index("-u") + 1] in (commands._user(), str(os.geteuid()))


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("17_[0-3]|PENDING||Resources|x", 17),
        ("17_2|RUNNING|n1|None|x", 17),
        ("17+0|RUNNING|n1|None|x", 17),
        ("17+1|PENDING||None|x", 17),
    ],
    ids=["array", "task of an array", "leader of a heterogeneous job", "part of a heterogeneous job"],
)
async def test_jobs_of_other_kinds_that_our_user_has_are_read_too(
    slurm: Slurm, command: Command, line: str, number: int
) -> None:
    """Nobody says that the master's user runs nothing else; one odd line must not hide our own jobs."""
    command("squeue", f"{line}\n20|RUNNING|n2|None|determined:c1:7.a.1\n")
    assert [job.id for job in await slurm.jobs()] == [number, 20]


@pytest.mark.parametrize("noise", ["", "slurm: a word of the site\n", "17|RUNNING\n", "|||||\n", "x|y|z|a|b\n"])
async def test_lines_that_are_no_jobs_are_passed_over(slurm: Slurm, command: Command, noise: str) -> None:
    command("squeue", f"{noise}20|RUNNING|n2|None|mark\n")
    assert [job.id for job in await slurm.jobs()] == [20]


async def test_comment_with_bars_and_odd_bytes_is_kept_whole(slurm: Slurm, command: Command) -> None:
    command("squeue", "20|RUNNING|n2|None|a|b||c\n")
    assert [job.tag for job in await slurm.jobs()] == ["a|b||c"]


async def test_ending_a_job_that_is_over_is_no_error_but_an_absent_controller_is(
    slurm: Slurm, command: Command, tmp_path: Path
) -> None:
    command("scancel", status=1, error="scancel: error: Kill job error on job id 9: Invalid job id specified")
    await slurm.cancel(9)
    await slurm.signal(9, "USR1")
    assert (tmp_path / "scancel.args").read_text().split() == ["--quiet", "--signal=USR1", "9"]
    command("scancel", status=1, error="Unable to contact slurm controller")
    with pytest.raises(Unavailable):
        await slurm.cancel(9)
