"""Synchronous typed HTTP client of the master: address, session, and one file per noun."""
