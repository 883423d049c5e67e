"""Facts of a Python interpreter, and how one that cannot import determined gets ours."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Packages that user code may reach through `import determined`; an interpreter that lacks it gets ours. A determined
# without our packages, or with a file that only upstream has, is upstream's or a mixture of both. It finds no cluster
# here: a trial that imported it would train without reporting.
LINKED_PACKAGES = ("determined", "msgspec", "urllib3", "fsspec", "pathspec", "psutil", "yaml")
PREFIX = "/PREFIX"  # stands for any directory
_QUESTION = f"""
import importlib.metadata, importlib.util, json, os, platform, site, sys, sysconfig
names = sys.argv[1:]
def lacks(name):
    spec = importlib.util.find_spec(name)
    homes = spec.submodule_search_locations or [] if spec else []
    return not spec or name == "determined" and not any(map(is_ours, homes))
def is_ours(home):
    return os.path.isdir(os.path.join(home, "rundir")) and not os.path.exists(os.path.join(home, "_execution.py"))
def upstream():
    if importlib.util.find_spec("determined") is None or not lacks("determined"):
        return None
    try:
        return importlib.metadata.version("determined")
    except importlib.metadata.PackageNotFoundError:
        return "of an unknown version"
there = dict.fromkeys(("base", "platbase", "installed_base", "installed_platbase"), "{PREFIX}")
print(json.dumps({{
    "version": list(sys.version_info[:2]),
    "release": platform.python_version(),
    "upstream": upstream() if "determined" in names else None,
    "venv": sys.prefix != sys.base_prefix,
    "user_site": site.getusersitepackages(),
    "missing": [name for name in names if lacks(name)],
    "packages": sorted({{sysconfig.get_path(kind, vars=there) for kind in ("purelib", "platlib")}}),
    "search": [path for path in sys.path if path],
    "prefix": sys.prefix,
    "pip": importlib.util.find_spec("pip") is not None,
    "wheels": os.path.join(sysconfig.get_path("stdlib"), "ensurepip", "_bundled"),
}}))
"""
_ANSWER_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Interpreter:
    path: str
    venv: bool
    user_site: str
    packages: tuple[str, ...]  # where `pip --prefix /PREFIX` puts them
    missing: tuple[str, ...]  # of LINKED_PACKAGES
    same_version: bool  # as our own: compiled packages of ours load in it
    support: str | None = None  # a directory with those of LINKED_PACKAGES that were installed for it alone
    search: tuple[str, ...] = ()  # its sys.path
    release: str = ""  # such as 3.11.7
    prefix: str = ""  # its sys.prefix
    has_pip: bool = True
    wheels: str = ""  # a directory with the pip that its Python brings along
    upstream: str | None = None  # the version of upstream's determined that it has in place of ours

    @classmethod
    def answered(cls, path: str, answer: dict[str, Any], support: str | None = None) -> "Interpreter":
        """Build it from the answer of `ask`."""
        return cls(
            path,
            bool(answer["venv"]),
            str(answer["user_site"]),
            tuple(answer["packages"]),
            tuple(answer["missing"]),
            tuple(answer["version"]) == sys.version_info[:2],
            support,
            tuple(answer.get("search", ())),
            str(answer.get("release", "")),
            str(answer.get("prefix", "")),
            bool(answer.get("pip", True)),
            str(answer.get("wheels", "")),
            answer.get("upstream"),
        )


def ask(path: str) -> dict[str, Any]:
    """Ask an interpreter about itself. Raises OSError, SubprocessError or ValueError when it is none."""
    done = subprocess.run(
        [path, "-c", _QUESTION, *LINKED_PACKAGES],
        capture_output=True, check=True, timeout=_ANSWER_SECONDS, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def own() -> Interpreter:
    """Return the interpreter that runs this."""
    import importlib.util
    import platform
    import site
    import sysconfig

    there = dict.fromkeys(("base", "platbase", "installed_base", "installed_platbase"), PREFIX)
    packages = tuple(sorted({sysconfig.get_path(kind, vars=there) for kind in ("purelib", "platlib")}))
    return Interpreter(
        sys.executable,
        sys.prefix != sys.base_prefix,
        site.getusersitepackages(),
        packages,
        (),
        True,
        release=platform.python_version(),
        prefix=sys.prefix,
        has_pip=importlib.util.find_spec("pip") is not None,
        wheels=str(Path(sysconfig.get_path("stdlib")) / "ensurepip" / "_bundled"),
    )


def link_packages(names: Sequence[str], directory: Path) -> None:
    """Link just these packages of ours: our whole site directory would hide the other interpreter's own versions."""
    import importlib.util

    directory.mkdir(mode=0o700, exist_ok=True)
    for name in names:
        spec = importlib.util.find_spec(name)
        link = directory / name
        if spec is not None and spec.submodule_search_locations and not link.is_symlink():
            link.symlink_to(next(iter(spec.submodule_search_locations)))
