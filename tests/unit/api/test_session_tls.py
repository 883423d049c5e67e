"""Trust in an https master: which certificates are believed, and what is said of those that are not."""

import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from proving_peer import Peer

from determined.api import cert_store, certificates, own_master
from determined.api.certificates import CertSpec, UntrustedMaster
from determined.api.login import cert_for
from determined.api.own_master import MasterState
from determined.api.session import Session
from determined.errors import BadMaster

_EC = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"


def _openssl(*words: object) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`authority.pem` signed `signed.pem`; `own.pem` and `other.pem` signed themselves. All are named cluster."""
    directory = tmp_path_factory.mktemp("keys")
    for name, words in (
        ("authority", "-subj /CN=authority"),
        ("own", "-subj /CN=cluster -addext subjectAltName=DNS:cluster"),
        ("other", "-subj /CN=cluster -addext subjectAltName=DNS:cluster"),
    ):
        files = ("-keyout", directory / f"{name}.key", "-out", directory / f"{name}.pem")
        _openssl("req", "-x509", *_EC.split(), "-days", 2, *words.split(), *files)
    request = ("-keyout", directory / "signed.key", "-out", directory / "signed.csr", "-subj", "/CN=cluster")
    _openssl("req", *_EC.split(), *request)
    (directory / "names").write_text("subjectAltName=DNS:cluster\n")
    _openssl(
        "x509", "-req", "-in", directory / "signed.csr", "-CA", directory / "authority.pem", "-CAkey",
        directory / "authority.key", "-CAcreateserial", "-days", 2, "-extfile", directory / "names",
        "-out", directory / "signed.pem",
    )  # fmt: skip
    return directory


@pytest.fixture
def master(start: Callable[..., Peer], keys: Path) -> Callable[[str], Peer]:
    """`master("own")`: a server that shows that certificate."""

    def serve(name: str) -> Peer:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(keys / f"{name}.pem", keys / f"{name}.key")
        return start(context=context)

    return serve


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("DET_MASTER_CERT_FILE", "DET_MASTER_CERT_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DET_DEBUG_CONFIG_PATH", str(tmp_path / "config"))
    monkeypatch.setenv("DET_STATE_DIR", str(tmp_path / "state"))
    yield


def _get(peer: Peer, cert: CertSpec | None) -> object:
    with Session(peer.url, token="secret", cert=cert, retries=0) as session:
        return session.get("/info")


@pytest.mark.parametrize(
    ("shown", "file", "name", "is_trusted"),
    [
        ("own", "own", "cluster", True),
        ("signed", "authority", "cluster", True),
        ("signed", "signed", "cluster", True),
        ("other", "own", "cluster", False),
        ("own", "authority", "cluster", False),
        ("own", "own", "another", False),
        ("own", "own", None, False),
    ],
    ids=["itself", "its signer", "signed itself", "another key", "another signer", "another name", "no name given"],
)
@pytest.mark.parametrize("as_text", [False, True], ids=["file", "text"])
def test_a_certificate_is_believed_for_its_key_and_its_name(
    master: Callable[[str], Peer], keys: Path, shown: str, file: str, name: str | None, is_trusted: bool, as_text: bool
) -> None:
    peer, pem = master(shown), keys / f"{file}.pem"
    spec = CertSpec(name=name, pem=pem.read_text()) if as_text else CertSpec(str(pem), name)
    if is_trusted:
        assert _get(peer, spec) == {}
        return
    with pytest.raises(UntrustedMaster, match=f"{peer.url} cannot be trusted.*DET_MASTER_CERT_FILE"):
        _get(peer, spec)
    assert peer.asked == [], "it has heard nothing, not even what was asked"


def test_a_pinned_certificate_is_the_only_one_that_is_accepted(master: Callable[[str], Peer], keys: Path) -> None:
    peer = master("signed")
    assert _get(peer, CertSpec(pinned=(keys / "signed.pem").read_text())) == {}
    with pytest.raises(UntrustedMaster):
        _get(peer, CertSpec(pinned=(keys / "own.pem").read_text()))
    assert len(peer.asked) == 1


def test_a_certificate_of_the_environment_wins_over_the_one_that_was_accepted(
    master: Callable[[str], Peer], keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer = master("own")
    cert_store.trust(peer.url, (keys / "own.pem").read_text(), tmp_path / "config")
    assert _get(peer, cert_for(peer.url)) == {}
    monkeypatch.setenv("DET_MASTER_CERT_FILE", str(keys / "other.pem"))
    monkeypatch.setenv("DET_MASTER_CERT_NAME", "cluster")
    with pytest.raises(UntrustedMaster):
        _get(peer, cert_for(peer.url))
    monkeypatch.setenv("DET_MASTER_CERT_FILE", "noverify")
    assert _get(peer, cert_for(peer.url)) == {}


def test_the_certificate_of_ones_own_master_is_in_its_state(
    master: Callable[[str], Peer], keys: Path, tmp_path: Path
) -> None:
    peer = master("own")
    path = tmp_path / "state" / "embedded" / "state.json"
    path.parent.mkdir(parents=True)
    pem = (keys / "own.pem").read_text()
    own_master.save(
        path,
        MasterState(
            url=peer.url, pid=1, version="1", identity="x", password="p", data_dir=str(path.parent), certificate=pem
        ),
    )
    assert cert_for(peer.url) == CertSpec(pinned=pem)
    assert cert_for(peer.url.replace("https:", "http:")) is None


@pytest.mark.parametrize("damage", ["no PEM", f"{ssl.PEM_HEADER}\n!!!\n{ssl.PEM_FOOTER}\n"])
def test_a_damaged_accepted_certificate_makes_a_master_untrusted_again(damage: str) -> None:
    with pytest.raises(UntrustedMaster, match="was accepted for this master is damaged"):
        Session("https://cluster:8443", cert=CertSpec(pinned=damage))
    state = MasterState(
        url="https://127.0.0.1:1", pid=1, version="1", identity="x", password="", data_dir="/x", certificate=damage
    )
    assert not own_master.proves_itself(state)


def test_a_missing_certificate_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=rf"no certificate at {tmp_path}/none\.pem; check DET_MASTER_CERT_FILE"):
        Session("https://cluster:8443", cert=CertSpec(str(tmp_path / "none.pem")))


def test_a_file_that_holds_no_certificate_is_named(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("ssh-ed25519 AAAA me@here\n")
    for path in (tmp_path / "key.pem", tmp_path):
        with pytest.raises(ValueError, match=f"{path} holds no certificate in PEM form"):
            Session("https://cluster:8443", cert=CertSpec(str(path)))


def test_a_master_without_tls_is_not_asked_for_a_certificate() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        thread = threading.Thread(target=_refuse_in_plain_http, args=(listener,))
        thread.start()
        with Session(url, token="secret", retries=0) as session, pytest.raises(BadMaster) as refused:
            session.get("/info")
        thread.join()
    assert not isinstance(refused.value, UntrustedMaster)
    assert refused.value.message == f"{url} does not speak TLS; if it is a master, give its address with http://"


def _refuse_in_plain_http(listener: socket.socket) -> None:
    peer, _ = listener.accept()
    with peer:
        peer.recv(65536)
        peer.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def test_the_first_certificate_of_a_chain_is_that_of_the_server(keys: Path) -> None:
    own, signer = (keys / "signed.pem").read_text(), (keys / "authority.pem").read_text()
    assert certificates.first_certificate(f"subject=cluster\n{own}{signer}") == own
    assert certificates.fingerprint(own) != certificates.fingerprint(signer)
