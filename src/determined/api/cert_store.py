"""Certificates of masters that this user decided to trust, in `<config dir>/certs.json`: master's address -> PEM."""

import contextlib
import json
from pathlib import Path

from determined.api.address import canonical
from determined.api.own_master import write_private
from determined.errors import DeterminedError

_FILE = "certs.json"
_OLD_FILE = "master.crt"  # of releases that knew one master only


class CorruptCertificateCache(DeterminedError):
    code = "corrupt_certificate_cache"


def trusted(master_url: str, directory: Path) -> str | None:
    """Return the certificate accepted for this master. Raises CorruptCertificateCache once, and removes the file."""
    url = canonical(master_url)
    _take_over_old(url, directory)
    return read(directory / _FILE).get(url)


def trust(master_url: str, pem: str, directory: Path) -> None:
    path = directory / _FILE
    write(path, {**read(path), canonical(master_url): pem})


def read(path: Path) -> dict[str, str]:
    """Read a file of certificates. Raises CorruptCertificateCache once, and removes the file."""
    try:
        data = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except ValueError:
        data = None
    if isinstance(data, dict) and all(isinstance(pem, str) for pem in data.values()):
        return data
    path.unlink(missing_ok=True)
    raise CorruptCertificateCache(f"{path} was damaged and has been removed; accept the master's certificate again")


def write(path: Path, certificates: dict[str, str]) -> None:
    """Replace a file of certificates."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_private(path, json.dumps(certificates, indent=4, sort_keys=True).encode())


def _take_over_old(url: str, directory: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        pem = (directory / _OLD_FILE).read_text()
        write(directory / _FILE, {url: pem, **read(directory / _FILE)})
        (directory / _OLD_FILE).unlink()
