"""Things of upstream that have no place here: they are counted, and some written as YAML for whoever needs them."""

from collections.abc import Iterator
from pathlib import Path

from determined._json import JsonObject
from determined.config import dump_yaml
from determined.master.importing.notes import Rule
from determined.master.importing.sources.upstream import rules
from determined.master.importing.sources.upstream.reading import leftovers, users
from determined.master.importing.sources.upstream.required_columns import ACCESS_TOKENS, GROUPS, POLICIES
from determined.master.importing.sources.upstream.source import Source


def notes(source: Source) -> Iterator[tuple[Rule, int, str]]:
    """Yield (rule, how many, an example)."""
    for kind, columns in source.missing.items():
        yield rules.MISSING_COLUMNS, min(len(columns), 1), f"{kind}: {', '.join(columns)}"
    yield rules.OLDER_SCHEMA, len(source.later), ", ".join(source.later)
    groups = _groups(source)
    yield rules.GROUPS, len(groups), groups[0].name if groups else ""
    tokens = users.access_tokens(source) if source.has(ACCESS_TOKENS) else []
    yield rules.ACCESS_TOKENS, len(tokens), f"{tokens[0][0]}: {tokens[0][1]}" if tokens else ""
    owners = users.owners_of_roles(source) if source.has(GROUPS) else []
    yield rules.ROLES, len(owners), f"{owners[0].name}: {_role(owners[0].roles[0])}" if owners else ""
    for leftover in leftovers.COUNTED:
        for n, example in leftovers.counts(source, leftover):
            yield leftover.rule, n, example


def write(source: Source, directory: Path) -> list[Path]:
    """Write a file per noun that has something; return their paths. Policies may hold secrets."""
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    written = []
    for name, content in _contents(source).items():
        if content:
            path = directory / f"{name}.yaml"
            path.touch(mode=0o600)
            path.write_text(dump_yaml({name: content}))
            written.append(path)
    return written


def _contents(source: Source) -> dict[str, list[JsonObject]]:
    groups: list[JsonObject] = [
        {"name": group.name, "members": group.members, "roles": [_role(role) for role in group.roles]}
        for group in _groups(source)
    ]
    owners: list[JsonObject] = [
        {"username": owner.name, "roles": [_role(role) for role in owner.roles]}
        for owner in (users.owners_of_roles(source) if source.has(GROUPS) else [])
    ]
    return {
        "groups": groups,
        "roles": owners,
        "namespace-bindings": (
            leftovers.objects(source, leftovers.NAMESPACES)
            if source.sees("workspace_namespace_bindings", "namespace")
            else []
        ),
        "policies": leftovers.objects(source, leftovers.POLICIES) if source.has(POLICIES) else [],
    }


def _groups(source: Source) -> list[users.GroupRow]:
    return users.groups(source) if source.has(GROUPS) else []


_ROLES = {
    "1": "ClusterAdmin",
    "2": "WorkspaceAdmin",
    "3": "WorkspaceCreator",
    "4": "Viewer",
    "5": "Editor",
    "6": "ModelRegistryViewer",
    "7": "EditorRestricted",
    "8": "GenAIUser",
    "9": "EditorProjectRestricted",
    "10": "TokenCreator",
}


def _role(text: str) -> str:
    number, _, place = text.partition(" ")
    return f"{_ROLES.get(number, number)} {place}".strip()
