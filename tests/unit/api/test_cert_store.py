"""Certificates a user accepted: kept per master, pinned exactly, and asked about on a terminal."""

import io
import json
import os
import pty
import re
import select
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from determined.api import cert_store, certificates
from determined.api.cert_store import CorruptCertificateCache
from determined.api.certificates import CertSpec, UntrustedMaster
from determined.api.session import Session

URL = "https://host:8443"


def _certificate(directory: Path, name: str) -> Path:
    words = f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={name} -addext subjectAltName=DNS:{name}"
    key, pem = directory / f"{name}.key", directory / f"{name}.pem"
    subprocess.run(["openssl", *words.split(), "-keyout", str(key), "-out", str(pem)], check=True, capture_output=True)
    return pem


class _Info(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        data = b'{"version": "1"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        return None


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Its address and the certificate it shows."""
    pem = _certificate(tmp_path, "cluster")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, pem.with_suffix(".key"))
    running = ThreadingHTTPServer(("127.0.0.1", 0), _Info)
    running.daemon_threads = True
    running.handle_error = lambda *_: None  # type: ignore[method-assign]  # a refused handshake is what is tested
    running.socket = context.wrap_socket(running.socket, server_side=True)
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"https://127.0.0.1:{running.server_address[1]}", pem.read_text()
    running.shutdown()
    running.server_close()
    thread.join()


def test_certificates_are_kept_per_master_in_a_private_file(tmp_path: Path) -> None:
    directory = tmp_path / "config"
    cert_store.trust("https://host:8443/", "PEM1", directory)
    cert_store.trust("https://other", "PEM2", directory)
    assert cert_store.trusted(URL, directory) == "PEM1"
    assert cert_store.trusted("https://third", directory) is None
    assert json.loads((directory / "certs.json").read_text()) == {URL: "PEM1", "https://other:443": "PEM2"}
    assert (directory / "certs.json").stat().st_mode & 0o777 == 0o600


def test_the_single_certificate_of_old_releases_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / "master.crt").write_text("OLD")
    assert cert_store.trusted(URL, tmp_path) == "OLD"
    assert not (tmp_path / "master.crt").exists()
    assert cert_store.trusted(URL, tmp_path) == "OLD"


@pytest.mark.parametrize("text", ["{", "[]", '{"https://h": 5}'])
def test_a_damaged_file_is_removed_and_said_once(tmp_path: Path, text: str) -> None:
    (tmp_path / "certs.json").write_text(text)
    with pytest.raises(CorruptCertificateCache, match="accept"):
        cert_store.trusted(URL, tmp_path)
    assert cert_store.trusted(URL, tmp_path) is None


def test_a_pinned_certificate_is_accepted_whatever_its_name(server: tuple[str, str]) -> None:
    url, pem = server
    with Session(url, cert=CertSpec(pinned=pem), retries=0) as session:
        assert session.get("/info") == {"version": "1"}


def test_another_certificate_is_not(server: tuple[str, str], tmp_path: Path) -> None:
    other = _certificate(tmp_path, "other").read_text()
    with Session(server[0], cert=CertSpec(pinned=other), retries=0) as session, pytest.raises(UntrustedMaster):
        session.get("/info")


def test_the_fingerprint_is_the_one_openssl_prints(server: tuple[str, str], tmp_path: Path) -> None:
    pem = tmp_path / "cluster.pem"
    done = subprocess.run(
        ["openssl", "x509", "-in", str(pem), "-noout", "-fingerprint", "-sha256"],
        capture_output=True,
        text=True,
        check=True,
    )
    host, port = server[0].removeprefix("https://").split(":")
    fetched = certificates.fetch(host, int(port))
    assert certificates.fingerprint(fetched) == done.stdout.strip().partition("=")[2]


def test_without_a_terminal_an_unknown_certificate_is_shown_and_refused(
    server: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from determined.cli.main import main

    monkeypatch.setenv("DET_DEBUG_CONFIG_PATH", str(tmp_path / "config"))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main(["-m", server[0], "e", "ls"]) == 1
    err = capsys.readouterr().err
    assert certificates.fingerprint(server[1]) in err
    assert "DET_MASTER_CERT_FILE" in err
    assert not (tmp_path / "config" / "certs.json").exists()


def test_a_yes_on_the_terminal_is_remembered(server: tuple[str, str], tmp_path: Path) -> None:
    env = {k: v for k, v in os.environ.items() if not k.startswith("DET_")}
    env["DET_DEBUG_CONFIG_PATH"] = str(tmp_path / "config")
    program = str(Path(sys.executable).with_name("det"))
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(program, [program, "-m", server[0], "e", "ls"], env)
    received, deadline = b"", time.monotonic() + 60
    while b"[y/n]" not in received:
        assert time.monotonic() < deadline, received
        if select.select([fd], [], [], 0.2)[0]:
            received += os.read(fd, 4096)
    os.write(fd, b"y\n")
    while True:
        try:
            if not os.read(fd, 4096):
                break
        except OSError:
            break
    os.close(fd)
    os.waitpid(pid, 0)
    assert re.search(r"([0-9A-F]{2}:){31}[0-9A-F]{2}", received.decode())
    assert cert_store.trusted(server[0], tmp_path / "config") == server[1]


def test_an_accepted_certificate_wins_over_the_single_one_of_old_releases(tmp_path: Path) -> None:
    cert_store.trust(URL, "NEW", tmp_path)
    (tmp_path / "master.crt").write_text("OLD")
    assert cert_store.trusted(URL, tmp_path) == "NEW"
    assert cert_store.trusted("https://other", tmp_path) is None
    assert not (tmp_path / "master.crt").exists()


def test_a_new_certificate_of_a_master_replaces_the_old_one_alone(tmp_path: Path) -> None:
    cert_store.trust(URL, "FIRST", tmp_path)
    cert_store.trust("https://other", "OTHER", tmp_path)
    cert_store.trust("https://HOST:8443", "SECOND", tmp_path)
    assert json.loads((tmp_path / "certs.json").read_text()) == {URL: "SECOND", "https://other:443": "OTHER"}


def test_a_damaged_file_is_not_written_over_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "certs.json").write_bytes(b"\xff\xfe{")
    with pytest.raises(CorruptCertificateCache, match=r"certs\.json was damaged and has been removed"):
        cert_store.trust(URL, "PEM", tmp_path)
    cert_store.trust(URL, "PEM", tmp_path)
    assert cert_store.trusted(URL, tmp_path) == "PEM"
