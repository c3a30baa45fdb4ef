"""The model registry: versions, aliases, gates, exports, imports and inspections."""
