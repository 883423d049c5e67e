"""det token: access tokens for scripts."""

import argparse

from determined.api import environment, token, user
from determined.api.login import cert_for
from determined.api.session import Session
from determined.api.token_store import TokenStore
from determined.cli import passwords, render
from determined.cli.connection import address, connect
from determined.cli.grammar import arg, command, group, one_of
from determined.errors import NotFound
from determined.wire.token import PatchAccessTokenRequest, TokenInfo

_FORMAT = one_of(render.JSON, render.YAML)


def create(args: argparse.Namespace) -> None:
    session = connect(args)
    owner = user.by_name(session, args.username) if args.username else user.me(session)
    assert owner.id is not None
    days = args.expiration_days
    lifespan = None if days is None else "-1" if days < 0 else f"{days * 24}h"
    made = token.create(session, owner.id, lifespan=lifespan, description=args.description)
    if args.json or args.yaml:
        render.structured(made, args=args)
        return
    render.line(f"TokenID: {made.token_id}\nAccess-Token: {made.token}")


def list_tokens(args: argparse.Namespace) -> None:
    session = connect(args)
    if args.username:
        user.by_name(session, args.username)  # one that is not there would have an empty list
    tokens = token.listing(session, username=args.username, show_inactive=args.show_inactive)
    _show(tokens, args)


def describe(args: argparse.Namespace) -> None:
    tokens = {t.id: t for t in token.listing(connect(args), show_inactive=True)}
    missing = [i for i in args.token_id if i not in tokens]
    if missing:
        raise NotFound(f"no access token {missing}; list them with: det token list --show-inactive")
    _show([tokens[i] for i in args.token_id], args)


def edit(args: argparse.Namespace) -> None:
    session = connect(args)
    token.patch(session, PatchAccessTokenRequest(token_id=args.token_id, description=args.description))
    if args.json or args.yaml:
        _show([t for t in token.listing(session, show_inactive=True) if t.id == args.token_id], args)
        return
    render.line(f"Changed access token {args.token_id}")


def revoke(args: argparse.Namespace) -> None:
    token.patch(connect(args), PatchAccessTokenRequest(token_id=args.token_id, set_revoked=True))
    render.line(f"Revoked access token {args.token_id}")


def log_in(args: argparse.Namespace) -> None:
    url = address(args)
    given = passwords.given(args.token, "det token login") or ""
    name = user.me(Session(url, token=given, cert=cert_for(url))).username
    store = TokenStore(url, environment.config_dir())
    store.save(name, given)
    store.activate(name)
    render.line(f"Logged in as {name} at {url}")


def _show(tokens: list[TokenInfo], args: argparse.Namespace) -> None:
    headers = ["ID", "User ID", "Description", "Created At", "Expires At", "Revoked"]
    rows = [
        [t.id, t.user_id, t.description, render.time_of(t.created_at), render.time_of(t.expiry), t.revoked]
        for t in tokens
    ]
    render.rows(headers, rows, args=args, data=tokens)


_TOKEN = arg("token_id", type=int)

TREE = group(
    "token tkn",
    "manage access tokens",
    command(
        "create",
        "create access token",
        create,
        arg("username", nargs="?"),
        arg("-e", "--expiration-days", type=int, help="days it lives; -1 for ever"),
        arg("-d", "--description"),
        _FORMAT,
    ),
    command(
        "list ls",
        "list access tokens",
        list_tokens,
        arg("username", nargs="?"),
        arg("--show-inactive", action="store_true", help="also expired and revoked ones"),
        render.FORMATS,
        default=True,
    ),
    command("describe", "describe access token", describe, arg("token_id", type=int, nargs="+"), render.FORMATS),
    command("edit", "edit access token", edit, _TOKEN, arg("-d", "--description", required=True), _FORMAT),
    command("revoke", "revoke access token", revoke, _TOKEN),
    command("login", "log in with access token", log_in, arg("token", help="- asks for it")),
)
