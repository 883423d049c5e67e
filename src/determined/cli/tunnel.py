"""`python -m determined.cli.tunnel MASTER SERVICE`: bytes between this process, or a port, and a service of a task.

ssh runs it as the ProxyCommand of a shell. Standard output carries bytes of the service and nothing else.
"""

import argparse
import contextlib
import os
import stat
import sys
from collections.abc import Sequence

from determined.api.address import canonical
from determined.api.certificates import CertSpec
from determined.api.login import cert_for, login_with_cache
from determined.api.session import Session
from determined.api.tcp_tunnel import open_when_ready
from determined.cli import render
from determined.cli.connection import ask_password, connect
from determined.cli.port_listener import PortListener
from determined.errors import DeterminedError

_PATIENCE_SECONDS = 30.0


def main(argv: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    try:
        session = _session(options)
        if options.listener is not None:
            _listen(session, options.service, options.listener)
        else:
            _pass_on(session, options.service)
    except DeterminedError as e:
        render.fail(e.message)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m determined.cli.tunnel", description="Connect to a service of a task through the master."
    )
    parser.add_argument("master_url", type=canonical, help="address of the master")
    parser.add_argument("service", metavar="SERVICE", help="TASK_ID, or TASK_ID:PORT for a port that the task declares")
    parser.add_argument("--cert-file", help="certificate of the master, or 'noverify'")
    parser.add_argument("--cert-name", help="name in that certificate, where it is not the master's address")
    parser.add_argument("--listener", type=int, metavar="PORT", help="listen on this port instead of standard input")
    parser.add_argument("-u", "--user", help="user to log in as")
    parser.add_argument("--auth", action="store_true", help="log in; without it only services open to all are reached")
    return parser


def _session(options: argparse.Namespace) -> Session:
    given = CertSpec(options.cert_file, options.cert_name) if options.cert_file or options.cert_name else None
    if not options.auth:
        return Session(options.master_url, cert=given or cert_for(options.master_url))
    if given is not None:
        return login_with_cache(options.master_url, options.user, cert=given, ask_password=ask_password)
    return connect(argparse.Namespace(master=options.master_url, user_override=options.user))


def _listen(session: Session, service: str, port: int) -> None:
    with contextlib.closing(PortListener(session, service, port, render.warn)) as listener:
        listener.serve()


def _pass_on(session: Session, service: str) -> None:
    source, sink = sys.stdin.fileno(), sys.stdout.fileno()
    for descriptor in (source, sink):
        # A terminal is shared with the shell that it belongs to, which does not expect this.
        if stat.S_ISFIFO(mode := os.fstat(descriptor).st_mode) or stat.S_ISSOCK(mode):
            os.set_blocking(descriptor, False)
    # After a restart of the master the node takes some seconds to connect again; a shell must not fail for it.
    with contextlib.closing(open_when_ready(session, service, _PATIENCE_SECONDS)) as tunnel:
        tunnel.carry(source, sink, lambda: _end(sink))


def _end(sink: int) -> None:
    """Close standard output, so that who reads it sees the end, with something in its place."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sink)
    os.close(nothing)


if __name__ == "__main__":
    sys.exit(main())
