"""det open: an address of the web page that opens signed in; once, within a minute."""

import argparse

from determined.api import user
from determined.cli import environment, render
from determined.cli.connection import connect
from determined.cli.grammar import UsageError, arg, command

_PAGES = {
    "experiment": "/det/experiments/{id}",
    "trial": "/det/trials/{id}",
    "project": "/det/projects/{id}",
    "workspace": "/det/workspaces/{id}",
}


def open_page(args: argparse.Namespace) -> None:
    if args.what is not None and args.id is None:
        raise UsageError(f"which {args.what}? Give its number: det open {args.what} 1")
    page = _PAGES[args.what].format(id=args.id) if args.what else None
    address = user.page_link(connect(args, start=True), page)
    render.line(address)
    if not args.print_only and environment.has_screen():
        from determined.cli import private_link

        private_link.open_browser(address)


TREE = command(
    "open",
    "open the web page",
    open_page,
    arg("what", nargs="?", choices=list(_PAGES), help="what to show (default: the home page)"),
    arg("id", nargs="?", type=int, help="its number"),
    arg("-p", "--print-only", action="store_true", help="print the address and start no browser"),
    epilog="The address signs in whoever opens it first, as you, within a minute. Do not pass it on.\n",
)
