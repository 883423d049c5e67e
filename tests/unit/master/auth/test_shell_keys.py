"""Keys of shells: derived, right by the RFC, and read by OpenSSH and AsyncSSH alike."""

import shutil
import subprocess
from pathlib import Path

import pytest

from determined.errors import FailedPrecondition
from determined.master.auth import ed25519, other_ssh_keys, shell_keys
from determined.master.config.file import SshKeys

SECRET, TASK = b"secret of a cluster", "6f1c2a4e-0000-4000-8000-000000000001"
# Section 7.1 of RFC 8032: secret key, public key.
RFC_8032 = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    ),
]


@pytest.mark.parametrize(("secret", "public"), RFC_8032)
def test_public_keys_are_those_of_the_rfc(secret: str, public: str) -> None:
    assert ed25519.public_key(bytes.fromhex(secret)).hex() == public


def test_public_keys_are_those_of_a_library_that_others_trust() -> None:
    library = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    for number in range(20):
        seed = bytes([number]) * 32
        assert (
            ed25519.public_key(seed)
            == library.Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
        )


def test_a_seed_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="has 5"):
        ed25519.public_key(b"short")


def test_keys_stay_the_same_and_no_two_shells_share_one() -> None:
    other = "6f1c2a4e-0000-4000-8000-000000000002"
    pairs = [shell_keys.owner_key(SECRET, TASK), shell_keys.owner_key(SECRET, other), shell_keys.host_key(SECRET, TASK)]
    pairs += [shell_keys.host_key(SECRET, other), shell_keys.owner_key(b"another cluster", TASK)]
    assert len({pair.private for pair in pairs}) == len({pair.public.split()[1] for pair in pairs}) == len(pairs)
    shell_keys._owner_key.cache_clear()
    assert shell_keys.owner_key(SECRET, TASK) == pairs[0]


def test_the_settings_of_the_server_do_not_hold_the_owners_private_key() -> None:
    settings = shell_keys.server_settings(SECRET, TASK, None, "asyncssh")
    owner = shell_keys.owner_key(SECRET, TASK)
    assert settings["authorizedKeys"] == [owner.public]
    assert owner.private not in str(settings) and settings["hostKey"] != owner.private
    assert "PRIVATE KEY" not in repr(owner)


@pytest.mark.parametrize("kind", ["ED25519", "ECDSA", "RSA"])
def test_openssh_reads_the_private_key_and_finds_the_same_public_one(kind: str, tmp_path: Path) -> None:
    if kind != "ED25519":
        pytest.importorskip("cryptography")
    if shutil.which("ssh-keygen") is None:
        pytest.skip("there is no OpenSSH client here")
    pair = shell_keys.owner_key(SECRET, TASK, SshKeys.load({"key_type": kind, "rsa_key_size": 2048}))
    file = tmp_path / "key"
    file.touch(mode=0o600)
    file.write_text(pair.private)
    found = subprocess.run(["ssh-keygen", "-y", "-f", str(file)], capture_output=True, check=True, timeout=60)
    assert found.stdout.decode().split()[:2] == pair.public.split()[:2]


@pytest.mark.parametrize("kind", ["ED25519", "ECDSA", "RSA"])
def test_asyncssh_reads_both_keys(kind: str) -> None:
    asyncssh = pytest.importorskip("asyncssh")
    pair = shell_keys.owner_key(SECRET, TASK, SshKeys.load({"key_type": kind, "rsa_key_size": 2048}))
    private, public = asyncssh.import_private_key(pair.private), asyncssh.import_public_key(pair.public)
    assert private.public_data == public.public_data


def test_rsa_keys_have_the_length_that_was_asked_for_and_follow_from_the_seed() -> None:
    library = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    first, second = (other_ssh_keys.key_pair(b"s" * 32, "RSA", 1536) for _ in range(2))
    assert first[1] == second[1]
    assert library.load_ssh_public_key(first[1].encode()).key_size == 1536


@pytest.mark.parametrize("bits", [512, 16384])
def test_a_length_that_is_of_no_use_is_refused(bits: int) -> None:
    with pytest.raises(FailedPrecondition, match=f"rsa_key_size={bits}"):
        other_ssh_keys.key_pair(b"s" * 32, "RSA", bits)


def test_a_master_without_the_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str, *, extra: str) -> None:
        raise ImportError(f"{name} is not installed; run: pip install 'redetermined[{extra}]'")

    monkeypatch.setattr(other_ssh_keys, "load_optional", fail)
    with pytest.raises(FailedPrecondition, match=r"redetermined\[shell\]"):
        other_ssh_keys.key_pair(b"s" * 32, "ECDSA", None)
