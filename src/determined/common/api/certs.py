"""Upstream's `determined.common.api.certs`: how to trust the certificate of a master."""

import atexit
import os
import tempfile
from functools import cached_property
from pathlib import Path

from determined.api import cert_store, environment
from determined.api.certificates import NOVERIFY, CertSpec
from determined.api.login import cert_for

__all__ = ["Cert", "CertStore", "default_load", "default_store"]


class Cert:
    """Trust in a master: a certificate besides the system's (`cert_pem`), or no check at all (`noverify`).

    `name` is the host name that the certificate carries where it is not that of the address.
    """

    def __init__(self, cert_pem: str | None = None, noverify: bool = False, name: str | None = None) -> None:
        if cert_pem is not None and noverify:
            raise AssertionError("give cert_pem or noverify, not both")
        self._pem, self._noverify, self._name = cert_pem, noverify, name or None
        self._spec = CertSpec(file=NOVERIFY if noverify else None, name=self._name, pem=cert_pem)

    @classmethod
    def of(cls, spec: CertSpec | None) -> "Cert":
        """Wrap what the client decided; a certificate that was accepted stays the only one."""
        cert = cls(noverify=spec is not None and spec.file == NOVERIFY, name=spec.name if spec else None)
        cert._spec = spec or cert._spec
        return cert

    @property
    def spec(self) -> CertSpec:
        return self._spec

    @property
    def name(self) -> str | None:
        return self._name

    @cached_property
    def bundle(self) -> str | bool | None:
        """Return what `requests` takes as `verify`: a path, False for no check, None for the system's authorities."""
        if self._noverify:
            return False
        return _written(self._pem) if self._pem is not None else None


class CertStore:
    """Certificates that this user accepted, by the address of their master, in one file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def get_cert(self, url: str) -> str | None:
        return cert_store.read(self.path).get(url)

    def set_cert(self, url: str, cert_pem: str) -> None:
        cert_store.write(self.path, {**cert_store.read(self.path), url: cert_pem})

    def delete_cert(self, url: str) -> None:
        kept = {other: pem for other, pem in cert_store.read(self.path).items() if other != url}
        cert_store.write(self.path, kept)


def default_store() -> Path:
    """Return the file of accepted certificates."""
    return environment.config_dir() / "certs.json"


def default_load(
    master_url: str,
    explicit_path: str | None = None,
    explicit_cert_name: str | None = None,
    explicit_noverify: bool = False,
) -> Cert:
    """Decide how to trust a master: by the arguments, else by DET_MASTER_CERT_FILE, else as accepted before."""
    if explicit_path or explicit_cert_name or explicit_noverify:
        pem = Path(explicit_path).read_text() if explicit_path else None
        return Cert(pem, explicit_noverify, explicit_cert_name)
    return Cert.of(cert_for(master_url))


def _written(pem: str) -> str:
    with tempfile.NamedTemporaryFile("w", prefix="det-master-cert-", suffix=".pem", delete=False) as file:
        file.write(pem)
    atexit.register(os.unlink, file.name)
    return file.name
