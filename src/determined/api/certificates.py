"""Trust in an https master: the system's authorities, plus a certificate of the cluster's own."""

import hashlib
import ssl
from dataclasses import dataclass

from determined.errors import BadMaster

NOVERIFY = "noverify"
_BEGIN, _END = ssl.PEM_HEADER, ssl.PEM_FOOTER


class UntrustedMaster(BadMaster):
    """Master whose certificate nobody we trust has signed."""

    code = "untrusted_master"


@dataclass(frozen=True, slots=True)
class CertSpec:
    """`file`: a PEM file to trust besides the system's authorities, or the word `noverify`. `name`: the host name the
    certificate carries when it differs from the address. `pinned`: PEM of the one certificate to accept, whatever
    name it carries. `pem`: text to trust as that of a `file`."""

    file: str | None = None
    name: str | None = None
    pinned: str | None = None
    pem: str | None = None


def context_of(cert: CertSpec | None) -> ssl.SSLContext:
    """Return the TLS context.

    Raises:
        FileNotFoundError: the certificate file is missing.
        ValueError: it holds no certificate.
        UntrustedMaster: the pinned certificate is damaged.
    """
    if cert is not None and cert.pinned and not cert.file:
        return _pinned(cert.pinned)
    context = ssl.create_default_context()
    if cert is not None and cert.pem:
        return _trusting(context, cert.pem)
    if cert is None or not cert.file:
        return context
    if cert.file == NOVERIFY:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        # The user asked for it by that word; a warning per request would bury the log.
        import urllib3  # its import takes as long as all else that finding one's own master does

        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        return context
    # The file may hold the master's own certificate and not its signer's.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        context.load_verify_locations(cafile=cert.file)
    except FileNotFoundError as e:
        raise FileNotFoundError(f"no certificate at {cert.file}; check DET_MASTER_CERT_FILE or cert_path") from e
    except OSError as e:
        raise ValueError(f"{cert.file} holds no certificate in PEM form ({e}); name the master's .pem or .crt") from e
    return context


def fetch(host: str, port: int) -> str:
    """Return the certificate a server shows, as PEM; nothing about it is believed."""
    return ssl.get_server_certificate((host, port), timeout=10.0)


def first_certificate(pem: str) -> str:
    """Return a server's own certificate out of the file it serves; those of its signers follow it there."""
    head, end, _ = pem.partition(_END)
    return head[head.find(_BEGIN) :] + end + "\n"


def fingerprint(pem: str) -> str:
    """SHA-256 of the certificate, as people compare it: pairs of hex digits."""
    digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest().upper()
    return ":".join(digest[i : i + 2] for i in range(0, len(digest), 2))


def _trusting(context: ssl.SSLContext, pem: str) -> ssl.SSLContext:
    try:
        return _with_anchor(context, pem)
    except ssl.SSLError as e:
        raise ValueError(f"the text given as a certificate is none in PEM form ({e})") from e


def _pinned(pem: str) -> ssl.SSLContext:
    """Accept that certificate alone: its name and who signed it no longer matter, its key does."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    try:
        return _with_anchor(context, pem)
    except ssl.SSLError as e:
        raise UntrustedMaster(f"the certificate that was accepted for this master is damaged ({e})") from e


def _with_anchor(context: ssl.SSLContext, pem: str) -> ssl.SSLContext:
    """Let a chain end at this certificate, whoever signed it. Raises ssl.SSLError for a text that is none."""
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.load_verify_locations(cadata=pem)
    return context
