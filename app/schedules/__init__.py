"""Schedules: jobs that are queued again and again by the clock."""
