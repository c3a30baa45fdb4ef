"""Changes to the schema, in order."""
