"""Shared parts of engines on other hosts: the sitter, which starts one runner there and stays with it."""
