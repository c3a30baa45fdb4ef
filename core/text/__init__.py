"""Kernels that parse decimal numbers in text, for JSON and for LETOR."""
