"""Hugging Face training: `DetCallback` in a plain `transformers.Trainer`."""

from determined._imports import load_optional

load_optional("transformers", extra="transformers")  # before our own modules, which import it plainly

from determined.transformers._callback import DetCallback  # noqa: E402

__all__ = ["DetCallback"]
