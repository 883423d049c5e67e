"""det user: log in and out, manage users."""

import argparse
import sys
from typing import Any

from determined.api import environment, user
from determined.api.login import cert_for, login
from determined.api.token_store import TokenStore
from determined.cli import passwords, render
from determined.cli.connection import address, connect
from determined.cli.grammar import UsageError, arg, command, group, one_of, truth
from determined.errors import DeterminedError
from determined.wire.codec import convert
from determined.wire.user import AgentUserGroup, PatchUser, User

_NAME = arg("username", help="user name")


def list_users(args: argparse.Namespace) -> None:
    users = user.listing(connect(args), active=None if args.all else True)
    headers = ["Username", "Display Name", "Admin", "Active", "Remote", "Agent User", "Last Seen"]
    rows = [
        [u.username, u.display_name, u.admin, u.active, u.remote, _agent(u), render.time_of(u.last_auth_at)]
        for u in sorted(users, key=lambda u: u.username)
    ]
    render.rows(headers, rows, args=args, data=users)


def log_in(args: argparse.Namespace) -> None:
    url = address(args)
    store = TokenStore(url, environment.config_dir())
    name = args.username or args.user_override or store.active_user() or "determined"
    token = login(url, name, passwords.read(f"Password for user '{name}': "), cert=cert_for(url))
    store.save(name, token)
    store.activate(name)
    render.line(f"Logged in as {name} at {url}")


def log_out(args: argparse.Namespace) -> None:
    url = address(args)
    store = TokenStore(url, environment.config_dir())
    names = store.users() if args.all else [args.user_override or store.active_user() or "determined"]
    for name in names:
        args.user_override = name
        if store.token(name) is not None:
            _revoke(args)
        store.drop(name)
        render.line(f"Logged out {name}")


def whoami(args: argparse.Namespace) -> None:
    render.line(f"You are logged in as user '{user.me(connect(args)).username}'")


def create(args: argparse.Namespace) -> None:
    session = connect(args)
    password = passwords.given(args.password, "--password")
    if password is None and not args.remote:
        password = _new_password(args.username)
    if password:
        user.check_password(password)
    account = User(username=args.username, admin=args.admin, active=True, remote=args.remote)
    user.create(session, account, password)
    render.line(f"Created user {args.username}")


def edit(args: argparse.Namespace) -> None:
    session = connect(args)
    given = {
        "displayName": args.display_name,
        "username": args.new_username,
        "remote": args.remote,
        "active": args.active,
        "admin": args.admin,
    }
    changes = {k: v for k, v in given.items() if v is not None}
    if not changes:
        raise UsageError("nothing to change; give --display-name, --username, --remote, --active or --admin")
    user.patch(session, _id(session, args.username), convert(changes, PatchUser))
    render.line(f"Changed {', '.join(sorted(changes))} of user {args.username}")


def change_password(args: argparse.Namespace) -> None:
    session = connect(args)
    name = args.username or session.username
    assert name is not None
    password = _new_password(name)
    user.check_password(password)
    user.set_password(session, _id(session, name), password)
    store = TokenStore(session.master_url, environment.config_dir())
    store.forget_token(name)
    if name == session.username:
        store.save(name, login(session.master_url, name, password, cert=cert_for(session.master_url)))
    render.line(f"Changed the password of {name}")


def set_active(active: bool) -> Any:
    def run(args: argparse.Namespace) -> None:
        session = connect(args)
        user.patch(session, _id(session, args.username), PatchUser(active=active))
        render.line(f"{'Activated' if active else 'Deactivated'} user {args.username}")

    return run


def rename(args: argparse.Namespace) -> None:
    session = connect(args)
    user.patch(session, _id(session, args.username), PatchUser(username=args.new_name))
    render.line(f"Renamed user {args.username} to {args.new_name}")


def link(args: argparse.Namespace) -> None:
    session = connect(args)
    link = AgentUserGroup(
        agent_uid=args.agent_uid,
        agent_user=args.agent_user,
        agent_gid=args.agent_gid,
        agent_group=args.agent_group,
    )
    user.patch(session, _id(session, args.username), PatchUser(agent_user_group=link))
    render.line(f"Tasks of {args.username} run as {args.agent_user}({args.agent_uid})")


def _id(session: Any, username: str) -> int:
    user_id = user.by_name(session, username).id
    assert user_id is not None
    return user_id


def _revoke(args: argparse.Namespace) -> None:
    try:
        user.logout(connect(args))
    except DeterminedError:
        render.warn("the master could not be told; the token is forgotten here and ends by itself")


def _new_password(name: str) -> str:
    first = passwords.read(f"New password for user '{name}': ")
    if sys.stdin.isatty() and passwords.read("Confirm password: ") != first:
        raise UsageError("the passwords do not match")
    return first


def _agent(u: User) -> str | None:
    link = u.agent_user_group
    if link is None or link.agent_user is None:
        return None
    return f"{link.agent_user}({link.agent_uid}):{link.agent_group}({link.agent_gid})"


TREE = group(
    "user u",
    "manage users",
    command(
        "list ls",
        "list users",
        list_users,
        arg("-a", "--all", action="store_true", help="also inactive ones"),
        render.FORMATS,
        default=True,
    ),
    command("login", "log in user", log_in, arg("username", nargs="?")),
    command("logout", "log out user", log_out, arg("-a", "--all", action="store_true", help="every user")),
    command("whoami", "print the active user", whoami),
    command(
        "create",
        "create user",
        create,
        _NAME,
        arg("--admin", action="store_true", help="may administer the cluster"),
        one_of(
            arg("--password", help="initial password; - asks for it (the default)"),
            arg("--remote", action="store_true", help="logs in by SSO"),
        ),
    ),
    command(
        "edit",
        "edit user",
        edit,
        _NAME,
        arg("--display-name"),
        arg("--username", dest="new_username", help="the new name"),
        arg("--remote", type=truth, metavar="BOOL"),
        arg("--active", type=truth, metavar="BOOL"),
        arg("--admin", type=truth, metavar="BOOL"),
    ),
    command("change-password", "change password of user", change_password, arg("username", nargs="?")),
    command("rename", "rename user", rename, _NAME, arg("new_name")),
    command("activate", "activate user", set_active(True), _NAME),
    command("deactivate", "deactivate user", set_active(False), _NAME),
    command(
        "link-with-agent-user",
        "link user with an OS user",
        link,
        _NAME,
        arg("--agent-uid", type=int, required=True),
        arg("--agent-user", required=True),
        arg("--agent-gid", type=int, required=True),
        arg("--agent-group", required=True),
    ),
)
