"""The HTTP routes, one noun a file; each opens one visible transaction and holds no rules of its own."""
