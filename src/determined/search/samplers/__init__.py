"""Samplers, one module each, found by the registry (`search/registry.py`)."""
