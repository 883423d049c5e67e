"""Project: experiments and notes under one name."""

from typing import Self

from determined.api import experiment
from determined.api import project as api
from determined.api.session import Session
from determined.sdk.experiment import Experiment
from determined.wire.experiment import ListExperiments
from determined.wire.project import PatchProject
from determined.wire.project import Project as WireProject


class Project:
    def __init__(self, session: Session, project_id: int) -> None:
        self._session = session
        self.id = project_id
        self.archived: bool | None = None
        self.description: str | None = None
        self.n_active_experiments: int | None = None
        self.n_experiments: int | None = None
        self.name: str | None = None
        self.notes: list[dict[str, str]] | None = None
        self.workspace_id: int | None = None
        self.username: str | None = None
        self.key: str | None = None

    def reload(self) -> None:
        self._load(api.get(self._session, self.id))

    def set_name(self, name: str) -> None:
        self._patch(PatchProject(name=name))

    def set_description(self, description: str) -> None:
        self._patch(PatchProject(description=description))

    def set_key(self, key: str) -> None:
        self._patch(PatchProject(key=key))

    def archive(self) -> None:
        api.act(self._session, self.id, "archive")
        self.archived = True

    def unarchive(self) -> None:
        api.act(self._session, self.id, "unarchive")
        self.archived = False

    def list_experiments(self) -> list[Experiment]:
        own = experiment.iterate(self._session, ListExperiments(project_id=self.id))
        return [Experiment._from_wire(self._session, e) for e in own]

    def add_note(self, name: str, contents: str) -> None:
        self.reload()
        self._put_notes([*(self.notes or []), {"name": name, "contents": contents}])

    def remove_note(self, name: str) -> None:
        """Remove a note. Raises ValueError unless exactly one note has that name."""
        self.reload()
        notes = self.notes or []
        matches = [n for n in notes if n["name"] == name]
        if len(matches) != 1:
            raise ValueError(f"{len(matches)} notes of project {self.id} are named {name!r}; exactly one is needed")
        self._put_notes([n for n in notes if n["name"] != name])

    @classmethod
    def _from_wire(cls, session: Session, row: WireProject) -> "Project":
        return cls(session, row.id)._load(row)

    def _load(self, row: WireProject) -> Self:
        self.archived, self.description, self.name = row.archived, row.description, row.name
        self.n_experiments, self.n_active_experiments = row.num_experiments, row.num_active_experiments
        self.notes = [{"name": n.name, "contents": n.contents} for n in row.notes]
        self.workspace_id, self.username, self.key = row.workspace_id, row.username, row.key
        return self

    def _patch(self, changes: PatchProject) -> None:
        self._load(api.patch(self._session, self.id, changes))

    def _put_notes(self, notes: list[dict[str, str]]) -> None:
        api.put_notes(self._session, self.id, notes)
        self.notes = notes
