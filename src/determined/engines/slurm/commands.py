"""Commands of Slurm: sbatch, squeue, scancel, sinfo. Every call has a time limit; their output is parsed here alone.

Only options and columns that Slurm 20 to 24 have in common are used, and no sacct: not every cluster keeps accounts.
"""

import asyncio
import contextlib
import os
import pwd
import re
from collections.abc import Sequence
from pathlib import Path

from determined.engines.slurm.partitions import COLUMNS
from determined.engines.slurm.states import JobView
from determined.errors import FailedPrecondition, Unavailable

_SECONDS = 30.0
# Words of a controller that is away, or busy, or has all the jobs of this user that it takes at a time
# (AssocMaxSubmitJobLimit, QOSMaxSubmitJobPerUserLimit and their like); asking again later may help.
_AWAY = (
    "contact slurm controller", "timed out", "connection refused", "connection reset", "connect failure",
    "try again", "temporarily", "communication", "transport endpoint", "standby", "submitjob",
)  # fmt: skip


class Slurm:
    """Client of Slurm's commands. `path`: their directory; None: PATH."""

    def __init__(self, path: str | None = None) -> None:
        self._path = path

    async def submit(self, script: str) -> int:
        """Submit a job and return its id.

        Raises:
            FailedPrecondition: Slurm refuses it, in its own words.
            Unavailable: nobody answers; whether it was taken is unknown.
        """
        said = await self._run("sbatch", "--parsable", text=script)
        number = said.strip().splitlines()[-1].partition(";")[0] if said.strip() else ""
        if not number.isdigit():
            raise Unavailable(f"sbatch answered {said!r}, which is no job id")
        return int(number)

    async def jobs(self) -> list[JobView]:
        """Return our user's jobs, those that are over as long as Slurm remembers them (MinJobAge)."""
        said = await self._run("squeue", "-h", "-t", "all", "-u", _user(), "-o", "%i|%T|%N|%r|%k")
        return [_job(line.split("|", 4)) for line in said.splitlines() if line.count("|") >= 4 and line[0].isdigit()]

    async def hosts(self) -> list[str]:
        """Return one line for each node of each partition; see partitions.COLUMNS."""
        return (await self._run("sinfo", "-h", "-N", "-o", COLUMNS)).splitlines()

    async def cancel(self, job_id: int) -> None:
        await self._signal(str(job_id))

    async def signal(self, job_id: int, name: str) -> None:
        """Send a signal to the sitters of a running job. For a job that does not run, Slurm retries for minutes."""
        await self._signal(f"--signal={name}", str(job_id))

    async def _signal(self, *words: str) -> None:
        with contextlib.suppress(FailedPrecondition):  # it is over, or was never there
            await self._run("scancel", "--quiet", *words)

    async def _run(self, program: str, *words: str, text: str = "") -> str:
        process = await self._spawn(program, words, text)
        try:
            async with asyncio.timeout(_SECONDS):
                said, complained = await process.communicate()
        except TimeoutError as e:
            raise Unavailable(f"{program} did not answer within {_SECONDS:.0f} s") from e
        finally:
            await _reap(process)
        if process.returncode:
            raise _error(program, complained.decode(errors="replace").strip())
        return said.decode(errors="replace")

    async def _spawn(self, program: str, words: Sequence[str], text: str) -> asyncio.subprocess.Process:
        """Start a command.

        `text` comes from memory, not through a pipe, which a command that ends early would break.
        """
        command = str(Path(self._path) / program) if self._path else program
        try:
            with os.fdopen(os.memfd_create(program), "w+b", buffering=0) as given:
                given.write(text.encode())
                given.seek(0)
                return await asyncio.create_subprocess_exec(
                    command, *words, stdin=given, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
                )
        except OSError as e:
            raise Unavailable(f"{command} cannot be run: {e}; install Slurm's commands where the master runs") from e


async def _reap(process: asyncio.subprocess.Process) -> None:
    """Reap a process that timed out, or whose caller was cancelled."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _error(program: str, complained: str) -> FailedPrecondition | Unavailable:
    text = f"{program}: {complained or 'failed without a word'}"
    away = any(words in complained.lower() for words in _AWAY)
    return Unavailable(text) if away else FailedPrecondition(text)


def _job(fields: list[str]) -> JobView:
    number, state, nodes, reason, tag = fields
    # A task of an array is 17_2, a part of a heterogeneous job 17+1.
    return JobView(int(re.split(r"[_+]", number)[0]), state.strip(), reason.strip(), nodes.strip(), tag.strip())


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())
