"""How an https master is trusted: the system's authorities, plus a certificate of the cluster's own."""

import ssl
from dataclasses import dataclass

import urllib3

NOVERIFY = "noverify"


@dataclass(frozen=True, slots=True)
class CertSpec:
    """`file`: a PEM file to trust besides the system's authorities, or the word `noverify`. `name`: the host name the
    certificate carries when it differs from the address."""

    file: str | None = None
    name: str | None = None


def context_of(cert: CertSpec | None) -> ssl.SSLContext:
    """Raises FileNotFoundError when the certificate file is missing."""
    context = ssl.create_default_context()
    if cert is None or not cert.file:
        return context
    if cert.file == NOVERIFY:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        # The user asked for it by that word; a warning per request would bury the log.
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        return context
    context.load_verify_locations(cafile=cert.file)
    return context
