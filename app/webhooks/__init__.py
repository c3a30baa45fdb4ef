"""Webhooks: events sent to addresses of users."""
