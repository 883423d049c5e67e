"""det model alias: names of versions, such as production, and who moved them when."""

import argparse

from determined.api import model_alias
from determined.cli import render
from determined.cli.connection import connect
from determined.cli.grammar import arg, command, group
from determined.wire.model_alias import ListModelAliasHistory, PutModelAliasRequest

_MODEL = arg("model_name", completes="model", help="name or ID of the model")
_ALIAS = arg("alias", help="for example production")


def set_alias(args: argparse.Namespace) -> None:
    request = PutModelAliasRequest(version=_version(args.version), expected_version=args.expected)
    row = model_alias.put(connect(args), args.model_name, args.alias, request)
    if args.json:
        render.structured(row)
        return
    render.line(f"{args.model_name}:{row.alias} is now version {row.version}")


def remove(args: argparse.Namespace) -> None:
    model_alias.remove(connect(args), args.model_name, args.alias)
    render.line(f"Removed alias {args.alias} of model {args.model_name}; the version stays")


def list_aliases(args: argparse.Namespace) -> None:
    aliases = model_alias.listing(connect(args), args.model_name)
    rows = [[a.alias, a.version, a.username, render.time_of(a.set_time)] for a in aliases]
    render.rows(["Alias", "Version #", "Set By", "Set"], rows, args=args, data=aliases)


def history(args: argparse.Namespace) -> None:
    changes = list(model_alias.history(connect(args), args.model_name, ListModelAliasHistory(alias=args.alias)))
    rows = [[render.time_of(c.time), c.username, c.alias, c.previous_version, c.version] for c in changes]
    render.rows(["Time", "User", "Alias", "From Version", "To Version"], rows, args=args, data=changes)


def _version(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


GROUP = group(
    "alias",
    "manage names of versions, such as production",
    command("list ls", "list aliases of model", list_aliases, _MODEL, render.FORMATS),
    command(
        "set",
        "point alias at a version",
        set_alias,
        _MODEL,
        _ALIAS,
        arg("version", help="number, another alias, or latest"),
        arg("--expected", type=int, metavar="N", help="fail unless the alias is at version N now (0: not set)"),
        render.JSON,
    ),
    command("remove rm", "remove alias", remove, _MODEL, _ALIAS),
    command(
        "history",
        "show who moved aliases and when",
        history,
        _MODEL,
        arg("alias", nargs="?", help="only of this alias"),
        render.FORMATS,
    ),
)
