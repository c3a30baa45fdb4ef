"""Worker processes: pool, lanes, heartbeats, sweeper, shutdown and messages."""
