"""Reports to the master that the shell is in use, every 10 s, where its config has an idle timeout.

Nothing is reported while nobody uses it: the master counts from the last report.
"""

import asyncio
from collections.abc import Callable

from determined.errors import DeterminedError
from determined.exec.service_program import say
from determined.exec.shell_server.host import Host

REPORT_SECONDS = 10.0


async def report_use(host: Host, tell: Callable[[], None], seconds: float = REPORT_SECONDS) -> None:
    """Report without end. A master that is away is told later; the shell goes on."""
    is_warned = False
    while True:
        await asyncio.sleep(seconds)
        if not host.was_used_within(seconds):
            continue
        try:
            await asyncio.to_thread(tell)
            is_warned = False
        except DeterminedError as e:
            if not is_warned:
                say("WARNING", f"the master was not told that this shell is in use: {e}")
            is_warned = True
