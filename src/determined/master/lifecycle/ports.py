"""The ports of a trial's processes: the first free ones from fixed bases, unique among everything that runs. Pure."""

from collections.abc import Collection

# Several ranges overlap on purpose (they are upstream's); uniqueness comes from the shared set of taken ports.
BASES = {
    "DTRAIN_SSH_PORT": 12350,
    "INTER_TRAIN_PROCESS_COMM_PORT_1": 12360,
    "INTER_TRAIN_PROCESS_COMM_PORT_2": 12365,
    "C10D_PORT": 29400,
}


def choose(taken: Collection[int]) -> dict[str, int]:
    """Ports for one more allocation."""
    used = set(taken)
    chosen: dict[str, int] = {}
    for name, base in BASES.items():
        port = base
        while port in used:
            port += 1
        used.add(port)
        chosen[name] = port
    return chosen
