"""The objects users hold: Determined, Experiment, Trial, Checkpoint, User, Workspace, Project."""
