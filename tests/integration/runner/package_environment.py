"""Small virtual environments whose packages a test writes, for fork servers that import them."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from determined.rundir.preload import PreloadList

SOURCE = Path(__file__).parents[3] / "src"


class PackageEnvironment:
    """Virtual environment that also has the packages of the one that runs the tests."""

    def __init__(self, path: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(path)], check=True)
        self.python = str(path / "bin" / "python")
        self.packages = Path(sysconfig.get_path("purelib", vars={"base": str(path), "platbase": str(path)}))
        (self.packages / "tests.pth").write_text(f"{SOURCE}\n{sysconfig.get_path('purelib')}\n")

    def write(self, name: str, text: str) -> Path:
        """Write a package of one module, or write it anew."""
        path = self.packages / name / "__init__.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        # Whoever edits twice within one tick of the file system's clock would not be seen.
        os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns + 1))
        return path


def preload(*modules: str, changed: tuple[str, ...] = (), **variables: str) -> PreloadList:
    return PreloadList(list(modules), {"TMPDIR": "/tmp", "PATH": os.environ["PATH"], **variables}, list(changed))
