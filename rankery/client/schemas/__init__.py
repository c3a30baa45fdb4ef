"""Models of requests and responses, generated from the OpenAPI document of the service."""
