"""`python3 -m determined.launch.tensorflow [--port P] [--] SCRIPT...`: one process per node, which sees all its slots.

Several nodes find one another by TF_CONFIG; a node alone runs the script as it is.
"""

import sys

from determined.constants import ENV_CHIEF_IP
from determined.launch import environment
from determined.launch._arguments import UsageError, parse
from determined.launch._program import launch, program
from determined.launch._topology import cluster_info, gang_of, tf_config
from determined.launch._worker import Work

_NAME = "tensorflow"
_USAGE = f"usage: python3 -m determined.launch.{_NAME} [--port PORT] [--] SCRIPT...\n"
_PORT = "--port"


def main(words: list[str]) -> int:
    return program(_USAGE, lambda: _run(words))


def _run(words: list[str]) -> int:
    port, rest = _take_port(words)
    script = parse(rest, overridable=False).script
    gang = gang_of(cluster_info(_NAME))
    variables = dict(environment.variables()) | {ENV_CHIEF_IP: gang.chief}
    if gang.nodes == 1:
        return launch([Work(script, variables, None)])
    return launch([Work(script, variables | {"TF_CONFIG": tf_config(gang, port)}, gang.node)])


def _take_port(words: list[str]) -> tuple[int, list[str]]:
    """(port, the other words)."""
    if not words or words[0].split("=")[0] != _PORT:
        return environment.rendezvous_port(), words
    _, given, value = words[0].partition("=")
    rest = words[1:]
    if not given:
        value, rest = (rest[0], rest[1:]) if rest else ("", [])
    if not value.isdigit():
        raise UsageError(f"{_PORT} needs a number, not {value!r}")
    return int(value), rest


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
