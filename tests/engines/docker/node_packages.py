"""Files that the small images of these tests lack and every real one has, mounted from this machine: libraries,
certificates.

uv itself is lent with our Python. Its settings are those of this machine, as an operator gives them to all tasks.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

_SETTINGS = ("PIP_", "UV_", "SSL_CERT_FILE", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")


def libraries_of_uv() -> list[dict[str, str]]:
    uv = str(Path(sys.executable).with_name("uv"))
    said = subprocess.run(["ldd", uv], capture_output=True, text=True, check=True)
    names = re.findall(r"=> (/\S+) \(0x", said.stdout)
    return [{"host_path": str(Path(n).resolve()), "container_path": n} for n in names if "libc.so" not in n]


def libraries_of_wheels() -> list[dict[str, str]]:
    """Return mounts of the C++ library, which compiled packages of an index expect of every Linux."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    [path, *_] = re.findall(r"libstdc\+\+\.so\.6 .*=> (\S+)", listed)
    return [{"host_path": str(Path(path).resolve()), "container_path": path}]


def index_variables() -> list[str]:
    """Return this machine's settings of package indexes, as entries of `environment_variables`."""
    return [f"{name}={value}" for name, value in os.environ.items() if name.startswith(_SETTINGS)]


def index_mounts() -> list[dict[str, object]]:
    """Return mounts of the files and directories that these settings name."""
    words = {word for entry in index_variables() for word in entry.partition("=")[2].split()}
    paths = sorted(word for word in words if word.startswith("/") and Path(word).exists())
    return [{"host_path": path, "container_path": path, "read_only": True} for path in paths]
