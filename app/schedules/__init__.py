"""Schedules: jobs that are queued repeatedly at set times."""
