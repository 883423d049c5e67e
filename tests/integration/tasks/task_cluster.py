"""Cluster whose tasks are submitted by API and run by the test."""

import base64
import time
from typing import Any

import yaml
from http_cluster import HttpCluster, eventually, resources

from determined.engines.model import Launch
from determined.wire.report import ExitCause, Phase

NOUNS = ("command", "notebook", "shell", "tensorboard")
PASSWORD = "Run-the-task-1"


class TaskCluster(HttpCluster):
    """HttpCluster with the verbs of submitted tasks. `person`: a new user who is no administrator."""

    def person(self, name: str) -> Any:
        user = {"username": name, "active": True, "admin": False}
        answer = self.admin.post("/api/v1/users", {"user": user, "password": PASSWORD})
        assert answer.status == 200, answer.raw
        return self.master.client(name, PASSWORD)

    def try_launch(self, noun: str = "command", *, by: Any = None, config: Any = None, **body: Any) -> Any:
        given = {"entrypoint": ["true"], "resources": {"slots": 0}} if config is None else config
        return (by or self.user).post(f"/api/v1/{noun}s", {"config": given, **body})

    def launch(self, noun: str = "command", **options: Any) -> Any:
        """The object of the answer."""
        answer = self.try_launch(noun, **options)
        assert answer.status == 200, answer.raw
        return answer.json[noun]

    def try_create(self, config: Any = None, *, by: Any = None, **body: Any) -> Any:
        """Create a generic task."""
        text = {} if config is None else {"config": config if isinstance(config, str) else yaml.safe_dump(config)}
        return (by or self.user).post("/api/v1/generic-tasks", {**text, **body})

    def create(self, *, by: Any = None, **body: Any) -> str:
        config = {"entrypoint": ["true"], "resources": {"slots": 0}}
        answer = self.try_create(body.pop("config", None if "forkedFrom" in body else config), by=by, **body)
        assert answer.status == 200, answer.raw
        return str(answer.json["taskId"])

    def state(self, task_id: str) -> str:
        """State of a generic task."""
        return str(
            self.user.get(f"/api/v1/tasks/{task_id}").json["task"]["taskState"].removeprefix("GENERIC_TASK_STATE_")
        )

    def get(self, noun: str, task_id: str, by: Any = None) -> Any:
        answer = (by or self.user).get(f"/api/v1/{noun}s/{task_id}")
        assert answer.status == 200, answer.raw
        return answer.json[noun]

    def runner(self, task_id: str, run: int = 1) -> Launch:
        """Return what the engine was told to start for a task."""
        wanted = f"{task_id}.{run}"
        eventually(lambda: any(one.allocation_id == wanted for one in self.machine.launched))
        return next(one for one in self.machine.launched if one.allocation_id == wanted)

    def spec(self, launch: Launch) -> Any:
        return self.task(launch).get(resources(launch) + "/spec").json

    def start(self, task_id: str, run: int = 1) -> Launch:
        """Let the runner of a task report that it runs."""
        launch = self.runner(task_id, run)
        assert self.report(launch, Phase("RUNNING", time.time())).status == 200
        return launch

    def finish(self, task_id: str, code: int = 0, cause: ExitCause = ExitCause.EXITED, run: int = 1) -> None:
        """Let the task run and exit."""
        self.leave(self.start(task_id, run), code, cause)

    def owner_client(self, launch: Launch) -> Any:
        """A program in the task, with the token that it finds in DET_USER_TOKEN."""
        return type(self.user)(self.user.url, {"Authorization": f"Bearer {self.spec(launch)['userToken']}"})


def file(path: str, content: bytes = b"x") -> dict[str, Any]:
    encoded = base64.b64encode(content).decode()
    return {"path": path, "type": 48, "content": encoded, "mtime": "1", "mode": 420, "uid": 0, "gid": 0}
