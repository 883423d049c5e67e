"""Opens a terminal for a client: a new one, or the one whose client was lost last."""

from collections.abc import Mapping

from determined.exec.shell_server.host import Host, Request
from determined.exec.shell_server.terminal import Size, Terminal, Viewer

_CANNOT_START = 127


def open_terminal(host: Host, viewer: Viewer, request: Request, size: Size, modes: Mapping[int, int]) -> Terminal:
    """Return a terminal that shows its output to the viewer. A client that is lost hands it to `host.detached`."""
    kept = None if request.wants_new else host.detached.take()
    if kept is not None:
        seconds = host.detached.waited(kept)
        viewer.show(f"[back in the terminal whose connection broke {seconds:.0f} s ago]\r\n".encode())
        kept.return_to(viewer, size)
        return kept
    terminal = Terminal(size, modes, is_login=request.command is None)
    terminal.attach(viewer)
    host.terminals.add(terminal)
    host.start(_run(host, viewer, request, terminal), f"terminal {terminal.path}")
    return terminal


async def _run(host: Host, viewer: Viewer, request: Request, terminal: Terminal) -> None:
    argv = host.argv(request)

    def ended() -> None:
        host.terminals.discard(terminal)
        host.detached.remove(terminal)

    try:
        await terminal.run(argv, host.variables_of(request, terminal.path), ended)
    except OSError as e:
        viewer.show(f"cannot start {argv[0]}: {e}\r\n".encode())
        viewer.ended(_CANNOT_START)
