"""Finding a master of one's own: proof before trust, private files only."""

from functools import partial
from pathlib import Path

import msgspec
import pytest
from small_master import serving

from determined._bound_address import of_url
from determined.api import own_master
from determined.api.own_master import DamagedState, MasterState, UnsafeState
from determined.wire.master_proof import identity_proof


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
    "answer", [(200, {}), (200, {"proofs": ["00"]}), (200, {"proofs": 5}), (200, b"<html>"), (500, {}), (200, [])]
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
    with serving({("GET", "/info"): (200, {})}) as replaying:
        old = identity_proof(b"secret", bytes(32), of_url(replaying.url))
        replaying.answers["GET", "/info"] = (200, {"proofs": [old]})
        state = own_master.load(_saved(tmp_path, replaying.url))
        assert state is not None and not own_master.proves_itself(state)


def test_a_certificate_is_known_for_the_address_of_ones_own_master_alone(tmp_path: Path) -> None:
    path = _saved(tmp_path, "https://127.0.0.1:8443")
    own_master.save(path, msgspec.structs.replace(_state("https://127.0.0.1:8443"), certificate="pem"))
    _saved(tmp_path, "http://127.0.0.1:1", "clusters/damaged").write_text("{")
    _saved(tmp_path, "http://127.0.0.1:2", "clusters/unsafe").chmod(0o644)
    found = own_master.at("https://127.0.0.1:8443", tmp_path)
    assert found is not None and found.certificate == "pem"
    assert own_master.at("https://127.0.0.1:8444", tmp_path) is None


def test_ones_own_master_is_known_by_every_name_of_the_loopback_and_at_addresses_it_has_left(tmp_path: Path) -> None:
    moved = msgspec.structs.replace(_state("http://127.0.0.1:2"), past_urls=["http://127.0.0.1:1"])
    own_master.save(_saved(tmp_path, "http://127.0.0.1:2"), moved)
    for url in ("http://127.0.0.1:2", "http://localhost:2", "http://[::1]:2", "http://127.0.0.1:1"):
        assert own_master.at(url, tmp_path) == moved, url
    for url in ("https://127.0.0.1:2", "http://192.0.2.1:2", "http://127.0.0.1:3"):
        assert own_master.at(url, tmp_path) is None, url
    _saved(tmp_path, "http://127.0.0.1:1", "clusters/c")
    assert own_master.at("http://127.0.0.1:1", tmp_path) != moved, "who is there now comes first"


def test_addresses_that_a_master_has_left_are_remembered_once() -> None:
    state = msgspec.structs.replace(_state("http://127.0.0.1:2"), past_urls=["http://127.0.0.1:1"])
    assert own_master.moved_to("http://127.0.0.1:3", state) == ["http://127.0.0.1:2", "http://127.0.0.1:1"]
    assert own_master.moved_to("http://127.0.0.1:1", state) == ["http://127.0.0.1:2"]
    assert own_master.moved_to("http://127.0.0.1:1", None) == []


def test_a_cluster_of_deploy_local_is_asked_before_the_embedded_master(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / "clusters" / name).mkdir(parents=True)
    found = [p.relative_to(tmp_path).as_posix() for p in own_master.directories(tmp_path)]
    assert found == ["clusters/a", "clusters/b", "embedded"]


@pytest.mark.parametrize("url", ["", "ftp://127.0.0.1:1", "http://127.0.0.1:99999", "http://u:p@127.0.0.1:1"])
def test_a_state_whose_address_is_none_is_damaged_and_stops_nobody(tmp_path: Path, url: str) -> None:
    """Every session looks through these files, also for masters elsewhere."""
    path = _saved(tmp_path, "http://127.0.0.1:1")
    for state in (_state(url), msgspec.structs.replace(_state("http://127.0.0.1:1"), past_urls=[url])):
        own_master.save(path, state)
        with pytest.raises(DamagedState, match=f"rm {path}"):
            own_master.load(path)
        assert own_master.at("http://cluster:8080", tmp_path) is None
        assert own_master.find(tmp_path) is None


def test_a_state_of_a_later_release_with_more_fields_is_read(tmp_path: Path) -> None:
    path = _saved(tmp_path, "http://127.0.0.1:1")
    fields = msgspec.json.decode(path.read_bytes()) | {"added": {"later": 1}}
    own_master.write_private(path, msgspec.json.encode(fields))
    assert own_master.load(path) == _state("http://127.0.0.1:1")


def test_a_state_file_cut_short_anywhere_is_damaged(tmp_path: Path) -> None:
    path = _saved(tmp_path, "http://127.0.0.1:1")
    whole = path.read_bytes()
    for length in range(0, len(whole) - 2, 7):
        path.write_bytes(whole[:length])
        with pytest.raises(DamagedState):
            own_master.load(path)


def test_an_unsafe_file_of_one_master_is_told_where_it_would_be_used(tmp_path: Path) -> None:
    path = _saved(tmp_path, "http://127.0.0.1:1")
    path.chmod(0o620)
    with pytest.raises(UnsafeState, match=f"chmod 600 {path}; else: rm {path}"):
        own_master.find(tmp_path)


def test_a_write_that_fails_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    path = _saved(tmp_path, "http://127.0.0.1:1")
    with pytest.raises(TypeError):
        own_master.write_private(path, "text, not bytes")  # type: ignore[arg-type]
    assert own_master.load(path) == _state("http://127.0.0.1:1")


def test_secrets_of_a_state_are_not_shown(tmp_path: Path) -> None:
    shown = repr(_state("http://127.0.0.1:1", identity="very secret"))
    assert "http://127.0.0.1:1" in shown
    assert "very secret" not in shown


def test_only_so_many_past_addresses_are_kept_the_newest_of_them(tmp_path: Path) -> None:
    past = [f"http://127.0.0.1:{port}" for port in range(1000, 1060)]
    state = msgspec.structs.replace(_state("http://127.0.0.1:1"), past_urls=past)
    kept = own_master.moved_to("http://127.0.0.1:2", state)
    assert len(kept) == 50
    assert kept[:2] == ["http://127.0.0.1:1", past[0]]
