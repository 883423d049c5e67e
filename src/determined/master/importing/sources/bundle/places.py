"""Owners, workspaces and projects: those that are here by name are used, others are made, with their ids if free."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from determined.bundle.layout import ProjectEntry, UserEntry, WorkspaceEntry
from determined.master.db.dialects import Values
from determined.master.db.queries import imported, project
from determined.master.importing.journal import Batch, Journal, Unit
from determined.master.importing.notes import Note
from determined.master.importing.sources.bundle import rules
from determined.master.importing.sources.bundle.mapping import MappingContext, map_user
from determined.master.importing.sources.bundle.plan import PROJECTS, USERS, WORKSPACES, Plan
from determined.master.importing.target import Target
from determined.master.services import naming, user_name


@dataclass(frozen=True, slots=True)
class PlaceSteps:
    """Fills the ids of `context`. What an earlier run of this import has made is found by its name as well."""

    target: Target
    plan: Plan
    journal: Journal
    context: MappingContext

    def store(self) -> None:
        """Store what is missing. Raises InvalidArgument for names that cannot be used here."""
        if not self.plan.experiments:
            return
        self._users()
        workspaces = self._workspaces()
        for entry in self.plan.places.projects:
            self.context.workspaces[entry.id] = workspaces[entry.workspace_id]
        self._projects()

    def _users(self) -> None:
        stored = self.target.read(lambda conn: imported.existing_names(conn, USERS, "username"))
        missing = [entry for entry in self.plan.users if user_name.checked_username(entry.username) not in stored]
        ids = self._ids(USERS, missing)
        batch = Batch()
        for entry in missing:
            user_name.checked_display_name(entry.display_name)
            batch.add([(USERS, map_user(entry, ids[entry.id], self.context))])
            batch.tally.add([Note(rules.USERS, entry.username)])
            stored[entry.username] = ids[entry.id]
        self._store(USERS, batch, ids)
        self.context.users.update({entry.username: stored[entry.username] for entry in self.plan.users})

    def _workspaces(self) -> dict[int, int]:
        """Return the id here of each of the bundle's workspaces."""
        stored = self.target.read(lambda conn: imported.existing_names(conn, WORKSPACES, "name"))
        missing = [entry for entry in self.plan.places.workspaces if entry.name not in stored]
        ids = self._ids(WORKSPACES, missing)
        batch = Batch()
        for entry in missing:
            batch.add([(WORKSPACES, self._workspace(entry, ids[entry.id]))])
            stored[entry.name] = ids[entry.id]
        self._store(WORKSPACES, batch, ids)
        return {entry.id: stored[entry.name] for entry in self.plan.places.workspaces}

    def _projects(self) -> None:
        stored = self.target.read(self._stored_projects)
        missing = [entry for entry in self.plan.places.projects if entry.id not in stored]
        ids = self._ids(PROJECTS, missing)
        keys = self.target.read(project.keys)
        batch = Batch()
        for entry in missing:
            batch.add([(PROJECTS, self._project(entry, ids[entry.id], keys, batch))])
        self._store(PROJECTS, batch, ids)
        self.context.projects.update({**stored, **ids})

    def _stored_projects(self, conn: Connection) -> dict[int, int]:
        stored = {}
        for entry in self.plan.places.projects:
            project_id = project.by_name(conn, self.context.workspaces[entry.id], entry.name)
            if project_id is not None:
                stored[entry.id] = project_id
        return stored

    def _workspace(self, entry: WorkspaceEntry, id_: int) -> Values:
        return {
            "id": id_,
            "name": naming.checked_name(entry.name, "workspace"),
            "user_id": self.context.users[entry.owner],
            "archived": entry.archived,
            "created_at": self.context.now,
        }

    def _project(self, entry: ProjectEntry, id_: int, keys: set[str], batch: Batch) -> Values:
        key = naming.checked_key(entry.key)
        if key in keys:
            key = naming.new_key(entry.name, keys)
            batch.tally.add([Note(rules.PROJECT_KEY, f"{entry.name}: {entry.key} is {key} here")])
        keys.add(key)
        return {
            "id": id_,
            "workspace_id": self.context.workspaces[entry.id],
            "user_id": self.context.users[entry.owner],
            "name": naming.checked_name(entry.name, "project"),
            "key": key,
            "description": entry.description,
            "notes": [{"name": str(n.get("name", "")), "contents": str(n.get("contents", ""))} for n in entry.notes],
            "archived": entry.archived,
            "created_at": self.context.now,
        }

    def _ids(self, table: str, entries: Sequence[UserEntry | WorkspaceEntry | ProjectEntry]) -> dict[int, int]:
        """Return an id for each entry: its own where that is free, else one above all."""
        taken = self.target.read(lambda conn: imported.all_ids(conn, table))
        own = {entry.id for entry in entries} - taken
        above = max(taken | own, default=0) + 1
        return dict(_numbered(entries, own, above))

    def _store(self, step: str, batch: Batch, ids: dict[int, int]) -> None:
        if ids:
            unit = Unit(step, len(ids), batch.checksum(), [], batch.tally, sorted(ids.values()))
            self.journal.store(unit, batch.write)


def _numbered(
    entries: Sequence[UserEntry | WorkspaceEntry | ProjectEntry], own: set[int], above: int
) -> Iterable[tuple[int, int]]:
    for entry in entries:
        if entry.id in own:
            yield entry.id, entry.id
        else:
            yield entry.id, above
            above += 1
