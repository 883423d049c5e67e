"""Frames of a tunnel: whatever pieces they arrive in, they are read as they were written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from determined.wire.tunnel import MAX_CONTROL, BadFrame, Frame, FrameReader, frame, header

_FRAMES = st.lists(st.tuples(st.sampled_from(list(Frame)), st.binary(max_size=40)), max_size=12)


@given(_FRAMES, st.lists(st.integers(1, 9), min_size=1))
def test_frames_are_read_whatever_pieces_they_come_in(frames: list[tuple[Frame, bytes]], sizes: list[int]) -> None:
    raw = b"".join(frame(kind, payload) for kind, payload in frames)
    assert _joined(_read(raw, sizes)) == _joined(frames)


def _read(raw: bytes, sizes: list[int]) -> list[tuple[Frame, bytes]]:
    reader, found, at = FrameReader(), [], 0
    while at < len(raw):
        size = sizes[len(found) % len(sizes)]
        found += [(kind, bytes(payload)) for kind, payload in reader.feed(raw[at : at + size])]
        at += size
    return found


def _joined(frames: list[tuple[Frame, bytes]]) -> list[tuple[Frame, bytes]]:
    """Neighbouring pieces of data are one; those without bytes are none."""
    joined: list[tuple[Frame, bytes]] = []
    for kind, payload in frames:
        if kind is Frame.DATA and joined and joined[-1][0] is Frame.DATA:
            joined[-1] = (kind, joined[-1][1] + payload)
        else:
            joined.append((kind, payload))
    return [one for one in joined if one != (Frame.DATA, b"")]


def test_the_payload_of_data_is_passed_on_before_it_is_complete() -> None:
    reader = FrameReader()
    assert reader.feed(header(Frame.DATA, 10) + b"abc") == [(Frame.DATA, b"abc")]
    assert reader.feed(b"defghij") == [(Frame.DATA, b"defghij")]


def test_an_unknown_frame_is_refused() -> None:
    with pytest.raises(BadFrame, match="255"):
        FrameReader().feed(b"\xff\x00\x00\x00")


def test_a_control_frame_that_would_fill_the_memory_is_refused() -> None:
    with pytest.raises(BadFrame, match="too long"):
        FrameReader().feed(header(Frame.OPEN, MAX_CONTROL + 1))
