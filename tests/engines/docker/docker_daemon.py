"""A real dockerd of our own: its socket, its data and its containers are nobody else's. It is ended by its pid."""

import contextlib
import io
import os
import shutil
import signal
import subprocess
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

from host_image import Files, files_of

NEEDED = ("dockerd", "containerd", "runc", "docker")
_UP_SECONDS = 30.0


class DockerDaemon:
    PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"

    def __init__(self, place: Path, bridge: str = "none") -> None:
        """`bridge`: an interface of this machine that networks of containers are joined to."""
        self._place, self._bridge = place, bridge
        self._process: subprocess.Popen[bytes] | None = None
        self._images: set[str] = set()

    @property
    def socket(self) -> str:
        return str(self._place / "sock")

    def start(self) -> None:
        """Start dockerd. If it has no bridge, containers use the host's network, or none."""
        place = self._place
        command = [
            "dockerd", f"--data-root={place}/data", f"--exec-root={place}/exec", f"--pidfile={place}/pid",
            f"--host=unix://{self.socket}", "--group=root", f"--bridge={self._bridge}",
            "--iptables=false", "--ip-masq=false", "--live-restore",
        ]  # fmt: skip
        with (place / "dockerd.log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, "PATH": self.PATH},
            )
        _until(self._answers, "dockerd does not come up", self.log)

    def stop(self) -> None:
        if self._process is None:
            return
        if self._process.poll() is None:
            with contextlib.suppress(subprocess.SubprocessError):
                self.clear()
        self.leave()
        self._unmount()
        shutil.rmtree(self._place / "data", ignore_errors=True)

    def leave(self) -> None:
        """End the daemon alone; its containers go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(timeout=30)
        self._process = None

    def clear(self) -> None:
        """Remove every container."""
        left = self.command("ps", "-aq").split()
        if left:
            self.command("rm", "-f", *left)

    def image(self, name: str) -> str:
        """Return an image of host_image.py, made when it is first asked for."""
        if name not in self._images:
            self.command("import", "-", name, stdin=_archive(files_of(name)))
            self._images.add(name)
        return name

    def command(self, *words: str, stdin: bytes = b"") -> str:
        done = subprocess.run(
            ["docker", "-H", f"unix://{self.socket}", *words],
            input=stdin,
            capture_output=True,
            timeout=120,
            check=False,
            env={**os.environ, "PATH": self.PATH},
        )
        if done.returncode:
            raise subprocess.SubprocessError(f"docker {words}: {done.stderr.decode()}\n{self.log()[-1500:]}")
        return done.stdout.decode().strip()

    def log(self) -> str:
        return (self._place / "dockerd.log").read_text(errors="replace")

    def _unmount(self) -> None:
        """Unmount what a daemon leaves mounted (its namespaces): its directory could not be removed."""
        mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
        for mount in sorted((one for one in mounts if Path(one).is_relative_to(self._place)), reverse=True):
            subprocess.run(["umount", mount], capture_output=True, check=False)

    def _answers(self) -> bool:
        try:
            return bool(self.command("version", "--format", "{{.Server.Version}}"))
        except subprocess.SubprocessError:
            return False


def _archive(files: Files) -> bytes:
    """Pack files, by path: a file of this machine, its content, or None for a directory."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", dereference=True) as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name.lstrip("/"))
            if isinstance(content, Path):
                archive.add(content, entry.name, recursive=False)
                continue
            entry.mode = 0o1777 if name == "/tmp" else 0o755
            if content is None:
                entry.type = tarfile.DIRTYPE
            entry.size = len(content or b"")
            archive.addfile(entry, io.BytesIO(content or b""))
    return buffer.getvalue()


def _until(condition: Callable[[], bool], problem: str, explain: Callable[[], str]) -> None:
    deadline = time.monotonic() + _UP_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{problem}:\n{explain()[-3000:]}")
        time.sleep(0.05)
