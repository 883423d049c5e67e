"""Values that Keras hands no callback and a callback needs: they lie in the frame of `fit`."""

import sys
from types import FrameType

_FRAMES = 12  # from a callback up to `fit`, with room for Keras's own wrappers


def fit_frame() -> FrameType | None:
    """Return the frame of the `fit` that called a hook of a callback; None where there is none in sight."""
    frame: FrameType | None = sys._getframe(2)
    for _ in range(_FRAMES):
        if frame is None:
            return None
        if frame.f_code.co_name == "fit" and {"data_handler", "epoch_iterator"} & frame.f_locals.keys():
            return frame
        frame = frame.f_back
    return None
