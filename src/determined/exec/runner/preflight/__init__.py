"""Preflight: what the nodes of one start find out about each other in the seconds before the entrypoint (check.py)."""
