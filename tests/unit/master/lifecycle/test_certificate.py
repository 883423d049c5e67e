"""By which name runners must know the certificate of a master that serves https."""

import logging
import subprocess
from pathlib import Path

import pytest

from determined.master.config import load_master_config
from determined.master.lifecycle.certificate import KnownAs, known_as


def _certificate(directory: Path, *names: str) -> dict[str, str]:
    key, cert = directory / "key.pem", directory / "cert.pem"
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=cluster"]
    if names:
        words += ["-addext", "subjectAltName=" + ",".join(names)]
    subprocess.run(["openssl", *words, "-keyout", key, "-out", cert], check=True, capture_output=True)
    return {"cert": str(cert), "key": str(key)}


def _known(tls: dict[str, str], **config: str) -> KnownAs:
    return known_as(load_master_config({"security": {"tls": tls}, **config}, {}, {}))


@pytest.mark.parametrize(
    ("names", "host", "name"),
    [
        (["DNS:gpu.example", "IP:127.0.0.1"], "0.0.0.0", None),
        (["DNS:gpu.example"], "gpu.example", None),
        (["IP:10.0.0.1", "DNS:gpu.example"], "0.0.0.0", "gpu.example"),
        (["DNS:*.example"], "127.0.0.1", "master.example"),
        ([], "127.0.0.1", None),
    ],
)
def test_the_name_is_told_where_it_differs_from_the_address(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, names: list[str], host: str, name: str | None
) -> None:
    tls = _certificate(tmp_path, *names)
    assert _known(tls, host=host) == KnownAs(tls["cert"], name)
    assert ("carries no subject alternative name" in caplog.text) is (not names)


def test_a_master_without_tls_has_nothing_to_be_known_by() -> None:
    assert known_as(load_master_config({}, {}, {})) == KnownAs()


def test_an_unreadable_certificate_is_said_and_still_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tls = {"cert": str(tmp_path / "none"), "key": str(tmp_path / "none")}
    with caplog.at_level(logging.WARNING):
        assert _known(tls) == KnownAs(tls["cert"])
    assert "cannot be read" in caplog.text
