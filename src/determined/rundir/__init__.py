"""A task's private directory on a node: layout, lock, journals, control page, context archives.

Shared by engines, exec and core; the only code that knows these files.
"""
