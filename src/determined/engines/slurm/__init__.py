"""Runners as jobs of a Slurm cluster, through its own commands: Slurm queues, chooses the nodes, and tells why."""
