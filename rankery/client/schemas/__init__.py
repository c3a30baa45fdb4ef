"""What goes to the service and what comes back, generated from its OpenAPI document."""
