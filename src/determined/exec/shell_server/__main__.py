"""`python3 -m determined.exec.shell_server`: serve SSH until the task ends."""

import asyncio
import logging
import sys

from determined import _logging
from determined.errors import DeterminedError
from determined.exec import service_program
from determined.exec.service_link import ServiceLink
from determined.exec.service_program import ServiceProgram, announce, say
from determined.exec.shell_server import browser_terminal, idle, library, serving
from determined.exec.shell_server.host import Host
from determined.exec.shell_server.serving import Serve
from determined.wire.shell_settings import ShellSettings

_OPENSSH = "openssh"


def main() -> int:
    """Serve until we are told to end."""
    _logging.configure()
    logging.getLogger("asyncssh").setLevel(logging.WARNING)
    try:
        program = service_program.read()
        settings = program.settings(ShellSettings)
        # Held to the end: the node removes environments that nobody uses.
        environment = None if settings.server == _OPENSSH else library.provide(program.environments())
        asyncio.run(_serve(program, settings))
        del environment
    except DeterminedError as err:
        say("ERROR", str(err))
        return 1
    return 0


async def _serve(program: ServiceProgram, settings: ShellSettings) -> None:
    host = Host(program.variables)
    serve = _openssh(program, settings) if settings.server == _OPENSSH else _asyncssh(settings, host)
    if settings.reports_idle:
        link = ServiceLink(program.run_dir.launch)
        host.start(idle.report_use(host, lambda: link.report_shell_idle(program.task_id, idle=False)), "idle")
    serve = browser_terminal.beside_ssh(serve, host, settings.terminal_key)
    with serving.listen(program.socket) as listener:
        announce(f"Server listening on the tunnel of {program.task_id}")
        await serving.accept_until_told(listener, serve, host)


def _asyncssh(settings: ShellSettings, host: Host) -> Serve:
    from determined.exec.shell_server import ssh_server

    options = ssh_server.options_of(settings, host)
    return lambda connected: ssh_server.serve_connection(connected, options)


def _openssh(program: ServiceProgram, settings: ShellSettings) -> Serve:
    from determined.exec.shell_server.openssh import OpenSsh

    directory = program.socket.with_name(program.socket.name + ".sshd")
    return OpenSsh(directory, settings, program.variables).serve_connection


if __name__ == "__main__":
    sys.exit(main())
