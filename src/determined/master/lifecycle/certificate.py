"""The master's own certificate as runners on this machine must know it: where it lies, by which name it goes."""

import contextlib
import logging
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from determined.master.config import MasterConfig
from determined.master.lifecycle.identity import advertised_url

logger = logging.getLogger(__name__)

_FLIGHTS = 8  # more than any handshake takes


@dataclass(frozen=True, slots=True)
class KnownAs:
    """`name` is None where the certificate is made out to the very address that runners use."""

    file: str | None = None
    name: str | None = None


def known_as(config: MasterConfig) -> KnownAs:
    """Blocking: reads the files."""
    tls = config.security.tls
    if tls.cert is None or tls.key is None:
        return KnownAs()
    file = str(Path(tls.cert).resolve())
    try:
        names = _names(tls.cert, tls.key)
    except (OSError, ssl.SSLError) as e:
        logger.warning("the names in certificate %s cannot be read: %s; tasks may fail to trust this master", file, e)
        return KnownAs(file)
    if not names:
        logger.warning("certificate %s carries no subject alternative name: tasks cannot trust this master", file)
    host = urlsplit(advertised_url(config)).hostname
    if host in [name for _, name in names]:
        return KnownAs(file)
    # A wildcard stands for any one label.
    return KnownAs(file, next((name.replace("*", "master", 1) for kind, name in names if kind == "DNS"), None))


def _names(cert: str, key: str) -> list[tuple[str, str]]:
    """Return whom the certificate is made out to. Only a peer sees that decoded, so we shake hands with ourselves."""
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    server.load_cert_chain(cert, key)
    client.check_hostname = False
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    client.load_verify_locations(cafile=cert)
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    near, far = client.wrap_bio(back, there), server.wrap_bio(there, back, server_side=True)
    for _ in range(_FLIGHTS):
        for side in (near, far):
            with contextlib.suppress(ssl.SSLWantReadError):
                side.do_handshake()
    certificate: dict[str, Any] = dict(near.getpeercert() or {})
    return list(certificate.get("subjectAltName", ()))
