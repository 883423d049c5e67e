"""Finding a master of one's own: proof before trust, private files only."""

import hashlib
import hmac
from functools import partial
from pathlib import Path

import msgspec
import pytest
from small_master import serving

from determined.api import own_master
from determined.api.own_master import DamagedState, MasterState, UnsafeState
from determined.constants import IDENTITY_PURPOSE


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_master, "proves_itself", partial(own_master.proves_itself, timeout=60.0))


def _state(url: str, identity: str = "secret") -> MasterState:
    return MasterState(url=url, pid=1, version="1", identity=identity, password="p", data_dir="/x")


def _saved(state_dir: Path, url: str, where: str = "embedded") -> Path:
    path = state_dir / where / "state.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    own_master.save(path, _state(url))
    return path


def test_a_saved_state_is_private_and_reads_back(tmp_path: Path) -> None:
    path = _saved(tmp_path, "http://127.0.0.1:1")
    assert path.stat().st_mode & 0o777 == 0o600
    assert own_master.load(path) == _state("http://127.0.0.1:1")
    assert [p.name for p in path.parent.iterdir()] == ["state.json"]


def test_a_file_that_others_can_read_is_not_believed(tmp_path: Path) -> None:
    path = _saved(tmp_path, "http://127.0.0.1:1")
    path.chmod(0o644)
    with pytest.raises(UnsafeState, match="chmod 600"):
        own_master.load(path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"url": 1}'])
def test_a_damaged_file_is_told_with_what_to_do(tmp_path: Path, text: str) -> None:
    path = _saved(tmp_path, "http://127.0.0.1:1")
    path.write_text(text)
    with pytest.raises(DamagedState, match="rm "):
        own_master.load(path)
    assert own_master.find(tmp_path) is None


@pytest.mark.parametrize(
    "answer", [(200, {}), (200, {"proof": "00"}), (200, {"proof": 5}), (200, b"<html>"), (500, {}), (200, [])]
)
def test_a_stranger_on_the_port_is_not_found_and_hears_only_the_challenge(
    tmp_path: Path, answer: tuple[int, object]
) -> None:
    with serving({("GET", "/info"): answer}) as stranger:
        _saved(tmp_path, stranger.url)
        assert own_master.find(tmp_path) is None
        assert [p.partition("?")[0] for p in stranger.paths()] == ["GET /info"]
        assert stranger.tokens() == []


def test_a_proof_of_another_challenge_is_refused(tmp_path: Path) -> None:
    old = hmac.digest(b"secret", IDENTITY_PURPOSE + bytes(16), hashlib.sha256).hex()
    with serving({("GET", "/info"): (200, {"proof": old})}) as replaying:
        state = own_master.load(_saved(tmp_path, replaying.url))
        assert state is not None and not own_master.proves_itself(state)


def test_a_certificate_is_known_for_the_address_of_ones_own_master_alone(tmp_path: Path) -> None:
    path = _saved(tmp_path, "https://127.0.0.1:8443")
    own_master.save(path, msgspec.structs.replace(_state("https://127.0.0.1:8443"), certificate="pem"))
    _saved(tmp_path, "http://127.0.0.1:1", "clusters/damaged").write_text("{")
    _saved(tmp_path, "http://127.0.0.1:2", "clusters/unsafe").chmod(0o644)
    assert own_master.certificate_of("https://127.0.0.1:8443", tmp_path) == "pem"
    assert own_master.certificate_of("https://127.0.0.1:8444", tmp_path) is None


def test_a_cluster_of_deploy_local_is_asked_before_the_embedded_master(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / "clusters" / name).mkdir(parents=True)
    found = [p.relative_to(tmp_path).as_posix() for p in own_master.directories(tmp_path)]
    assert found == ["clusters/a", "clusters/b", "embedded"]
