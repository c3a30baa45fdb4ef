"""Parts of a worker process: pool, heartbeats, sweeper, schedules, shutdown and messages."""
