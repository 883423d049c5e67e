"""Small images made of this machine's own files: a shell and its libraries, with or without a Python, with determined.

No registry is needed, and none of them takes more than seconds to make.
"""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

SYSTEM_PYTHON = Path("/usr/bin/python3")
EMPTY, BARE, PLAIN, OWN = "test/empty:1", "test/bare:1", "test/plain:1", "test/own:1"
_PROGRAMS = ("sh", "cat", "env", "ls", "mkdir", "mount", "rm", "sleep", "touch", "id")
_PACKAGES = ("determined", "msgspec", "urllib3", "fsspec", "pathspec", "psutil", "yaml")
_MODULES = "bz2, ctypes, hashlib, lzma, readline, socket, sqlite3, ssl, uuid, zlib"
_LENT = f"{_MODULES}, msgspec, psutil, yaml"
_LEFT_OUT = {"__pycache__", "test", "idlelib", "lib2to3", "tkinter", "turtledemo", "ensurepip"}

Files = dict[str, Path | bytes | None]  # by path; None is a directory


def files_of(image: str) -> Files:
    """EMPTY has nothing; BARE no Python; PLAIN the distribution's, without determined; OWN both."""
    if image == EMPTY:
        return {"/tmp": None}
    files = _bare()
    if image != BARE:
        files |= _python()
    if image == OWN:
        files |= _packages()
    return files


def _bare() -> Files:
    programs = [Path(str(shutil.which(name))).resolve() for name in _PROGRAMS]
    files: Files = {"/tmp": None, "/etc/passwd": b"root:x:0:0:root:/root:/bin/sh\n", "/root": None, "/proc": None}
    for name, program in zip(_PROGRAMS, programs, strict=True):
        files[f"/bin/{name}"] = program
    # With the libraries of the interpreter that is lent: an image for machine learning has those.
    lent = [path for path in _mapped(sys.executable, _LENT) if not path.startswith(sys.base_prefix)]
    files.update((path, Path(path).resolve()) for path in [*_libraries(programs), *lent])
    return files


def _python() -> Files:
    real = SYSTEM_PYTHON.resolve()
    library = Path("/usr/lib") / real.name
    files: Files = {"/usr/bin/python3": real, str(real): real}
    for path in library.rglob("*"):
        if path.is_file() and path.suffix != ".a" and not _LEFT_OUT & set(path.relative_to(library).parts):
            files[str(path)] = path
    files.update((path, Path(path).resolve()) for path in _mapped(str(real), _MODULES))
    return files


def _packages() -> Files:
    """Installed as an operator would, but for the metadata."""
    files: Files = {}
    for name in _PACKAGES:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.submodule_search_locations
        root = Path(next(iter(spec.submodule_search_locations)))
        for path in root.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                files[f"/usr/lib/python3/dist-packages/{name}/{path.relative_to(root)}"] = path
    return files


def _libraries(programs: list[Path]) -> list[str]:
    said = subprocess.run(["ldd", *map(str, programs)], capture_output=True, text=True, check=False).stdout
    return re.findall(r"(/\S+) \(0x", said)


def _mapped(python: str, modules: str) -> list[str]:
    """The libraries that an interpreter has loaded with these modules, by the paths that its loader knows."""
    text = f"import {modules}; print(open('/proc/self/maps').read())"
    said = subprocess.run([python, "-c", text], capture_output=True, text=True, check=True).stdout
    real = {Path(path) for path in re.findall(r"(/\S+/lib[^/\s]*\.so\S*)$", said, re.MULTILINE)}
    # The loader asks for libx.so.1, which is a link to libx.so.1.2.
    return [str(link) for path in real for link in path.parent.glob(f"{path.name.split('.so')[0]}.so*")]
