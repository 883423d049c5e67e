"""What runs inside a task. Nobody imports this room."""
