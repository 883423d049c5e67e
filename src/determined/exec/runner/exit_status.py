"""Exit statuses in words."""

import contextlib
import signal

HINTS = {
    126: "the entrypoint cannot be executed (exit status 126): is it a program, with execute permission?",
    127: "the entrypoint was not found (exit status 127): is it installed, and in the context directory?",
}


def described(status: int) -> str:
    """Describe the end of an entrypoint; 128 + n after signal n."""
    if status > 128:
        with contextlib.suppress(ValueError):
            return f"the entrypoint was ended by {signal.Signals(status - 128).name}"
    return f"the entrypoint exited with status {status}"
