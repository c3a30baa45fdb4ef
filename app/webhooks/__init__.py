"""Webhooks: events sent to URLs of users."""
