"""Resumable uploads by the tus protocol, version 1.0.0 (https://tus.io/protocols/resumable-upload)."""
