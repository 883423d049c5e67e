"""Upstream's `determined.common.experimental.model`."""

from determined.experimental.client import Model, ModelOrderBy, ModelSortBy, ModelVersion

__all__ = ["Model", "ModelOrderBy", "ModelSortBy", "ModelVersion"]
