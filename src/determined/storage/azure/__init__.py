"""Checkpoints on Azure Blob Storage."""
