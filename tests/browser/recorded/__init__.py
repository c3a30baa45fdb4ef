"""Pages with recorded answers of the API, without a service."""
