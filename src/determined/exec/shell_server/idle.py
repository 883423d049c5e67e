"""Reports to the master whether the shell is in use, every 30 s, where its config has an idle timeout."""

import asyncio
from collections.abc import Callable

from determined.errors import DeterminedError
from determined.exec.service_program import say
from determined.exec.shell_server.host import Host

REPORT_SECONDS = 30.0

Tell = Callable[[bool], None]  # whether the shell is idle


async def report_use(host: Host, tell: Tell, seconds: float = REPORT_SECONDS) -> None:
    """Report without end. A master that is away is told later; the shell goes on."""
    is_warned = False
    while True:
        await asyncio.sleep(seconds)
        try:
            await asyncio.to_thread(tell, not host.was_used_within(seconds))
            is_warned = False
        except DeterminedError as e:
            if not is_warned:
                say("WARNING", f"the master was not told whether this shell is in use: {e}")
            is_warned = True
