"""Programs that run inside a task. No other package imports this one."""
