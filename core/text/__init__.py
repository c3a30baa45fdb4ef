"""Decimal numbers in text, the one reader of them for JSON and for LETOR."""
