"""Rows of upstream as rows of ours: pure functions, a file per noun."""
