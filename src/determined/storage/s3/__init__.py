"""Checkpoints on Amazon S3."""
