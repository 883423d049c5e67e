"""Stage 2 of the Core API examples as a training that is certainly not over when somebody pauses or kills it."""

from pathlib import Path

from stage_4 import change

_ASKED = "            if core_context.preempt.should_preempt():\n"
_STAYS = """\
            while steps_completed >= 20 and {when}:
                if core_context.preempt.should_preempt(auto_ack=False):
                    break
                time.sleep(0.02)
"""


def stays_until_paused(model: Path, *, always: bool = False) -> Path:
    """Make the script wait at batch 20 until it is paused, at its first start; `always`: also at later ones."""
    when = "True" if always else "latest_checkpoint is None"
    return change(model, "2_checkpoints.py", _ASKED, _STAYS.format(when=when) + _ASKED)
