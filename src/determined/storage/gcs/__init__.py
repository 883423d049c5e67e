"""Checkpoints on Google Cloud Storage."""
