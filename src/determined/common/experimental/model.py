"""Upstream's `determined.common.experimental.model`."""

from determined.experimental.client import Model, ModelOrderBy, ModelSortBy, ModelVersion, OrderBy

__all__ = ["Model", "ModelOrderBy", "ModelSortBy", "ModelVersion", "OrderBy"]
