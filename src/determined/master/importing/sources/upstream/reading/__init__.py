"""Queries of upstream's tables, a file per noun; nothing here writes."""
