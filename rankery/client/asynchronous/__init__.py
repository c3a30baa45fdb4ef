"""The asynchronous client, which the synchronous one is generated from."""
