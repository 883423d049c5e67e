"""JupyterLab of a notebook: where it comes from, its settings, the words that start it."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from determined._json import JsonObject
from determined.environments import programs
from determined.environments.cache_directory import Place
from determined.environments.install import Environment
from determined.environments.programs import Program
from determined.exec.service_program import ServiceProgram, say
from determined.exec.shell_server.login_shell import find_shell

JUPYTERLAB = Program("JupyterLab", ("jupyterlab>=4.6,<5", "jupyter-server>=2.21,<3", "ipykernel>=7,<8"), "notebook")
# Two handlers of Jupyter's own check the token themselves; the server warns of them at each start.
_NO_WARNING = "ignore:Extension endpoints without"
# Else JupyterLab asks every visitor whether it may fetch news, which this server has no address for.
_PAGE_DEFAULTS: JsonObject = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}
_OLDEST = {"jupyterlab": (4, 0), "jupyter-server": (2, 0)}  # that take the settings below


@dataclass(frozen=True, slots=True)
class Server:
    """The Python with JupyterLab. `own`: of the node, in place of the task's; held as long as this lives."""

    python: str
    environment: Environment | None = field(default=None, repr=False)

    def argv(self, config: Path) -> list[str]:
        """Return the words that start it.

        The node's own is isolated (-I): packages of the task must not take the place of the server's. The variables
        stay as they are, for kernels and terminals.
        """
        isolation = "-P" if self.environment is None else "-I"
        return [self.python, isolation, "-W", _NO_WARNING, "-m", "jupyterlab", f"--config={config}"]


def find_server(place: Place) -> Server:
    """Return the JupyterLab of the task's Python, else that of this node. Raises FailedPrecondition."""
    if all(_version(name) >= oldest for name, oldest in _OLDEST.items()):
        say("INFO", f"JupyterLab {version('jupyterlab')} of {sys.executable}")
        return Server(sys.executable)
    environment = programs.provide(JUPYTERLAB, place)
    return Server(environment.interpreter.path, environment)


def config_of(program: ServiceProgram, token: str, root: Path) -> JsonObject:
    """Return the settings of the server."""
    return {
        "Application": {"log_format": "%(levelname)s: [%(name)s] %(message)s"},
        "ServerApp": {
            "sock": str(program.socket),
            "sock_mode": "0600",
            "base_url": program.prefix,
            "root_dir": str(root),
            "allow_root": True,
            "allow_remote_access": True,  # the Host is that of the user's browser
            "allow_unauthenticated_access": False,
            "open_browser": False,
            "terminado_settings": {"shell_command": [find_shell(program.variables)]},
        },
        "IdentityProvider": {"token": token},
        # Names in the file system, not ports: whoever may connect to a port reads what a kernel prints.
        "KernelManager": {"transport": "ipc"},
        "MultiKernelManager": {"default_kernel_name": "python3"},
        "KernelSpecManager": {"ensure_native_kernel": False},  # it would hide the task's Python behind the server's
        "LabApp": {
            "check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
            "news_url": None,
            "extension_manager": "readonly",  # others use the same environment
        },
    }


def variables_of(program: ServiceProgram, home: Path) -> Mapping[str, str]:
    """Return the variables of the server, which kernels and terminals get too. `home`: a directory of this task."""
    given = dict(program.variables)
    paths = [str(home / "data"), *filter(None, [given.get("JUPYTER_PATH")])]
    own = {
        "SHELL": find_shell(given),
        "JUPYTER_PATH": os.pathsep.join(paths),
        "JUPYTER_RUNTIME_DIR": str(home / "run"),
        # A password, port or origin that the user has set for a Jupyter at home is not for this server.
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
    }
    themes = {"JUPYTERLAB_SETTINGS_DIR": str(Path(given.get("HOME") or home) / ".jupyter" / "lab" / "user-settings")}
    return themes | given | own


def write_config(config: JsonObject, home: Path) -> Path:
    """Write the settings for the server alone, because the token is in them, and the defaults of its page."""
    defaults = home / "config" / "labconfig" / "default_setting_overrides.json"
    defaults.parent.mkdir(parents=True, exist_ok=True)
    defaults.write_text(json.dumps(_PAGE_DEFAULTS))
    path = home / "jupyter_config.json"
    path.touch(mode=0o600)
    path.write_text(json.dumps(config))
    return path


def _version(name: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in version(name).split(".")[:2] if part.isdecimal())
    except PackageNotFoundError:
        return ()
