"""The dashboard of services that require an API key."""
