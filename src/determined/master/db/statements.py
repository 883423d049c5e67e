"""Types of parts of statements whose columns are chosen at run time, by a filter, a sort or a name."""

from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Select

AnyColumn: TypeAlias = ColumnElement[Any]
AnySelect: TypeAlias = Select[*tuple[Any, ...]]
