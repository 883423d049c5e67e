"""The writers of Keras's TensorBoard callbacks, which keep events in memory for up to two minutes: a process that is
killed loses these, and who goes on from its checkpoint does not write them again."""

from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING

from determined.keras._fit_frame import fit_frame

if TYPE_CHECKING:
    from keras.callbacks import TensorBoard


def tensorboards_of_fit(keras: ModuleType) -> list["TensorBoard"]:
    """List the TensorBoard callbacks of this `fit`, Keras's own and ours, from `on_train_begin`."""
    frame = fit_frame()
    listed = None if frame is None else frame.f_locals.get("callbacks")
    return [each for each in getattr(listed, "callbacks", []) if isinstance(each, keras.callbacks.TensorBoard)]


def flush(tensorboards: Iterable[object]) -> None:
    """Write what they hold to their files."""
    for each in tensorboards:
        for writer in getattr(each, "_writers", {}).values():
            writer.flush()
