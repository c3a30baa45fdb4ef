"""Bulk labelling over HTTP: tags and projects of many jobs or models, not relevance labels."""
