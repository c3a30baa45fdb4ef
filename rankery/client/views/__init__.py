"""Fields and display of resources, shared by both clients."""
