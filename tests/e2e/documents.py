"""Documents whose blocks are run, and the place where a document's blocks are run as its reader would run them."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import pytest

from cluster import HANG_SECONDS, ROOT, clean_environment, free_port
from document_blocks import Block, blocks, check_config

RUN = ("console", "bash", "python", "yaml")
SHOWN = ("text", "json", "ini")  # shapes and messages to look at, files of other programs
BLOCK_SECONDS = HANG_SECONDS
# Where a document pauses a training, that stays at its first checkpoint until it has been paused.
_ASKED = "\n            if core_context.preempt.should_preempt():\n"
_STAYS = """
            while not pathlib.Path({gate!r}).exists():
                if core_context.preempt.should_preempt(auto_ack=False):
                    break
                time.sleep(0.02)"""

_PROGRAMS = {"curl ": "curl", "det shell ": "ssh"}  # what a script has to have for these words
_ASSIGNED = re.compile(r"^([A-Z]+)=", re.MULTILINE)  # in a script
_KEPT = re.compile(r"^declare \S+ ([A-Z]+)=", re.MULTILINE)  # as bash prints it
_SLEEP = re.compile(r"time\.sleep\([\d.]+\)")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d{4})")


def documents() -> list[Path]:
    return [*pages(), *examples()]


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def pytorch_pages() -> list[Path]:
    """Those whose blocks import torch, which takes seconds for each."""
    names = ("batch-inference", "pytorch", "pytorch-data", "pytorch-today")
    return [ROOT / "docs" / f"{name}.md" for name in names]


def pages_with_torch_blocks() -> list[Path]:
    """Those that use torch in some blocks, which are marked `<!-- needs: torch -->`."""
    return [page for page in pages() if any(block.marks.get("needs") == "torch" for block in blocks(page))]


def examples() -> list[Path]:
    """Not those that need a framework: their own tests run them where it is installed."""
    names = ("core_api", "custom_search/halving", "detached", "distributed/launch_layer", "optuna")
    return [ROOT / "examples" / name / "README.md" for name in names]


def name_of(document: Path) -> str:
    return f"{document.parent.name}-{document.stem}"


def read_through(
    document: Path, directory: Path, block_seconds: float = BLOCK_SECONDS, packages: Collection[str] = ()
) -> None:
    """Do all that it shows, as its reader would. Raises AssertionError for what does not work.

    Blocks marked `<!-- needs: PACKAGE -->` are left out unless `packages` has it.
    """
    reader = Reader(directory, document, int(free_port()), block_seconds)
    try:
        for block in blocks(document):
            is_left_out = "not run" in block.marks or block.language in SHOWN
            if not is_left_out and block.marks.get("needs") in (None, *packages):
                _try(block, reader)
    finally:
        reader.leave()


def normal(text: str) -> str:
    """Drop what differs from run to run: ids, times, addresses, widths of columns."""
    text = _STAMP.sub("TIME", _UUID.sub("UUID", text))
    text = re.sub(r"127\.0\.0\.1:\d+", "ADDRESS", text)
    text = re.sub(r"\] [0-9a-f]{8} \|\|", "] ID ||", text)
    text = re.sub(r"\[\d+\] ", "[PID] ", text)
    text = re.sub(r"\([a-z]+-[a-z]+-[a-z]+\)", "(WORDS)", text)
    return re.sub(r"-{3,}", "---", re.sub(r"\s+", " ", text)).strip()


def missing_lines(promised: list[str], output: str) -> list[str]:
    """The promised lines that do not come in the output, in this order."""
    lines = iter([normal(line) for line in output.splitlines()])
    return [line for line in promised if not any(normal(line) == found for found in lines)]


class Reader:
    """A home and a clone of their own. What the document starts is stopped when the document is read."""

    def __init__(self, directory: Path, document: Path, port: int, block_seconds: float = BLOCK_SECONDS) -> None:
        self.clone = directory / "determined"
        self._home = directory / "home"
        self._gate = directory / "gate"
        self._port = str(port)
        self._seconds = block_seconds
        self._home.mkdir(parents=True)
        shutil.copytree(ROOT / "examples", self.clone / "examples")
        # The README of an example speaks from its own folder, every other document from the top.
        inside = document.parent.relative_to(ROOT)
        self.cwd = self.clone / inside if inside.parts[:1] == ("examples",) else self.clone

    def write(self, name: str, text: str) -> Path:
        assert not Path(name).is_absolute(), f"mark {name} as not run"
        path = self.cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._here(text))
        return path

    def shell(self, script: str) -> subprocess.CompletedProcess[str]:
        pauses = "det e pause" in script
        self._pace(pauses=pauses)
        if pauses:
            self._gate.unlink(missing_ok=True)
            assert "\ndet e activate" in script
            script = script.replace("\ndet e activate", f"\ntouch {self._gate}\ndet e activate")
        return self._run(["bash", "-euo", "pipefail", "-c", self._with_variables(self._here(script))])

    def python(self, path: Path) -> subprocess.CompletedProcess[str]:
        self._pace(pauses=False)
        return self._run([sys.executable, str(path)])

    def give(self, source: Path) -> None:
        """Copy a file or directory of the reader's own to where the document is read."""
        target = self.cwd / source.name
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)

    def leave(self) -> None:
        state = self._home / ".local" / "share" / "determined"
        for cluster in sorted((state / "clusters").glob("*")):
            self._run(["det", "deploy", "local", "cluster-down", "--cluster-name", cluster.name])
        self._run(["det", "master", "stop"])
        for pid_file in state.rglob("runs/*/pid"):
            _kill(pid_file)

    def _pace(self, *, pauses: bool) -> None:
        """The examples train faster than printed, as nobody watches; and wait where they are to be caught half way."""
        stays = _STAYS.format(gate=str(self._gate))
        for path in (self.clone / "examples").rglob("*.py"):
            text = _SLEEP.sub("time.sleep(0.005)", path.read_text().replace(stays, ""))
            path.write_text(text.replace(_ASKED, stays + _ASKED) if pauses else text)

    def _with_variables(self, script: str) -> str:
        """Carry variables such as `ID` from block to block, as the reader's terminal does."""
        kept = self._home.parent / "variables"
        kept.touch()
        names = " ".join(sorted(set(_ASSIGNED.findall(script)) | set(_KEPT.findall(kept.read_text()))))
        keep = f"trap 'declare -p {names} > {kept} 2> /dev/null || true' EXIT\n" if names else ""
        return f". {kept}\n{keep}{script}"

    def _here(self, text: str) -> str:
        return text.replace("8080", self._port)

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        env = clean_environment(HOME=str(self._home), NO_COLOR="1", COLUMNS="200")
        env = {k: v for k, v in env.items() if not k.startswith("XDG_")}
        env["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), env["PATH"]])
        return subprocess.run(
            command, cwd=self.cwd, env=env, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=self._seconds, check=False,
        )  # fmt: skip


def _kill(pid_file: Path) -> None:
    try:
        os.kill(int(pid_file.read_text()), signal.SIGKILL)
    except (ValueError, OSError):
        return


def _try(block: Block, reader: Reader) -> None:
    for words, program in _PROGRAMS.items():
        if words in block.script and shutil.which(program) is None:
            pytest.skip(f"{block.where} needs {program}, which this machine has not")
    if "given" in block.marks:
        reader.give(ROOT / block.marks["given"])
    path = reader.write(block.marks["file"], block.text) if "file" in block.marks else None
    if block.language == "yaml":
        check_config(block)
    elif block.language == "python":
        done = reader.python(path or reader.write("snippet.py", block.text))
        assert done.returncode == 0, f"{block.where}\n{done.stdout}"
    else:
        done = reader.shell(block.script)
        wanted = int(block.marks.get("exit status", "0"))
        assert done.returncode == wanted, f"{block.where} ended with {done.returncode}\n{done.stdout}"
        missing = missing_lines(block.shown, done.stdout)
        assert not missing, f"{block.where} promises\n{missing[0]}\nbut prints\n{done.stdout}"
