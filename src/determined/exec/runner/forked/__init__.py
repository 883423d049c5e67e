"""Entrypoint started by a fork instead of by a new interpreter: which one may be, and how the fork becomes it."""
