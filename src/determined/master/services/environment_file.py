"""The file that `environment.python` names, looked at while its submitter still listens."""

from pathlib import PurePosixPath

from determined.config import ExperimentConfig
from determined.config.python_environment import PythonEnvironment
from determined.config.requirement_lines import editable_entries, unpinned_entries, without_logins
from determined.errors import InvalidConfig
from determined.master.services.model_definition import read_member

_SHOWN = 80  # characters of a line in a message
_UV_LOCK, _PROJECT = "uv.lock", "pyproject.toml"


def require_usable(config: ExperimentConfig, packed: bytes | None) -> None:
    """Refuse a file that is not in the context directory, and lines that no environment can be made of. Blocking.

    Raises:
        InvalidConfig: naming the key.
    """
    python = config.environment.python
    if python is None:
        return
    key = "requirements" if python.requirements is not None else "lock"
    problem = _problem(python, packed)
    if problem is not None:
        message = "invalid experiment configuration: config is invalid"
        raise InvalidConfig(message, [f"<config>.environment.python.{key}: {problem}"])


def _problem(python: PythonEnvironment, packed: bytes | None) -> str | None:
    if python.file is None:
        return _editable("\n".join(python.requirements or ()))
    content = read_member(packed, python.file) if packed else None
    if content is None:
        return f"the context directory has no file `{python.file}`; correct the name, and look at .detignore"
    path = PurePosixPath(python.file)
    if path.name == _UV_LOCK or path.suffix == ".toml":
        return _missing_project(path, packed)
    return _unreadable(content, python)


def _missing_project(path: PurePosixPath, packed: bytes | None) -> str | None:
    """uv alone reads these formats; but a uv.lock needs its project."""
    project = path.with_name(_PROJECT)
    if path.name != _UV_LOCK or (packed and read_member(packed, str(project)) is not None):
        return None
    return f"the context directory has no `{project}`, which belongs to `{path}`; add it, and look at .detignore"


def _unreadable(content: bytes, python: PythonEnvironment) -> str | None:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return f"`{python.file}` is not UTF-8 text"
    loose = unpinned_entries(text) if python.lock is not None else []
    if loose:
        shown = without_logins(loose[0])[:_SHOWN]
        return (
            f"`{shown}` in `{python.file}` names no exact version; pin it with ==, or give the file as"
            " `requirements` to have it resolved"
        )
    return _editable(text)


def _editable(text: str) -> str | None:
    editable = editable_entries(text)
    if not editable:
        return None
    shown = without_logins(editable[0])[:_SHOWN]
    return (
        f"`{shown}` is editable, and an environment is shared; leave -e out, or import the code from the context"
        " directory"
    )
