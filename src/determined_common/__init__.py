"""Upstream's package `determined_common` of 0.12 and 0.13: `determined.common` under its first name."""
