"""Bundles of `det experiment export`."""
