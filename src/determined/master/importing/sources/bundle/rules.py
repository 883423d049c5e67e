"""Rules by which an import of a bundle changes, leaves out or leaves to people what is in it."""

from determined.master.importing import shared_rules
from determined.master.importing.notes import Outcome, Rule

_CHANGED, _LEFT_OUT, _BY_HAND = Outcome.CHANGED, Outcome.LEFT_OUT, Outcome.BY_HAND

LIVE = Rule("live", _CHANGED, "Experiments and trials that were not over are CANCELED; fork them to go on.")
CONFIG = Rule(
    "config",
    _CHANGED,
    "Configs with values that are not valid here: those were replaced by defaults; see originalConfig.",
)
PROJECT_KEY = Rule("project_key", _CHANGED, "Projects whose key another project has here got a new one.")
KNOWN = Rule("known", _LEFT_OUT, "Experiments that are here already: of an earlier import, or this cluster's own.")
LOGS = Rule("logs", _LEFT_OUT, "Logs, because of --no-logs.")
USERS = Rule(
    "users",
    _BY_HAND,
    "Users that were made: they have no password and no rights beyond a user's; det user change-password.",
)
MASKED = Rule(
    "masked", _BY_HAND, "Configs whose secrets are masked: who forks such an experiment writes them in again."
)
FILES_ELSEWHERE = Rule(
    "files_elsewhere",
    _BY_HAND,
    "Checkpoints whose files are not in the bundle: they stay where they are, copy them if need be.",
)

RULES = {**shared_rules.RULES, **{rule.name: rule for rule in list(globals().values()) if isinstance(rule, Rule)}}
