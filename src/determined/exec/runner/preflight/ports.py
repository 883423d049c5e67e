"""The ports that an allocation was given: which of them somebody else holds on this node already."""

import errno
import socket

_USED = ("C10D_PORT", "INTER_TRAIN_PROCESS_COMM_PORT_1", "INTER_TRAIN_PROCESS_COMM_PORT_2")


def taken(address: str, variables: dict[str, str]) -> list[tuple[str, int]]:
    """Return (variable, port) of each port that could not be listened on."""
    wanted = [(name, int(variables[name])) for name in _USED if variables.get(name, "").isdecimal()]
    return [(name, port) for name, port in wanted if _is_taken(address, port)]


def owner(port: int) -> str | None:
    """Return the process that listens there, where this user may know it."""
    import psutil

    try:
        for one in psutil.net_connections("tcp"):
            if one.status == psutil.CONN_LISTEN and one.laddr and one.laddr.port == port and one.pid:
                return f"process {one.pid} ({' '.join(psutil.Process(one.pid).cmdline())[:120]})"
    except psutil.Error:
        return None
    return None


def _is_taken(address: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        # Ended connections may linger on the port; training libraries set this option as well.
        with socket.socket(family) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((address, port))
    except OSError as e:
        return e.errno == errno.EADDRINUSE
    except OverflowError:
        return False
    return False
