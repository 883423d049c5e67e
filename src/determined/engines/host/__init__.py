"""Runners as processes of this host: their directories, starting, following and ending them. No asyncio."""
