"""`environment.python`: which packages a trial's own Python has. Plain data, light to import; the schema is apart."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PythonEnvironment:
    """`requirements`: a file of the context directory, or its lines; `lock`: such a file, installed as it is."""

    requirements: str | tuple[str, ...] | None = None
    lock: str | None = None
    version: str | None = None  # None: as the Python that runs the task's runner

    @property
    def file(self) -> str | None:
        """The file of the context directory that it names, if it names one."""
        return self.requirements if isinstance(self.requirements, str) else self.lock


def parse_python_environment(raw: dict[str, Any] | None) -> PythonEnvironment | None:
    if raw is None:
        return None
    asked = raw.get("requirements")
    return PythonEnvironment(tuple(asked) if isinstance(asked, list) else asked, raw.get("lock"), raw.get("version"))
