"""Events: the list, and the stream of server-sent events."""
