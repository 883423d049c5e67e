"""Upstream's `determined.common`: re-exports for users' code; nothing inside imports it."""
