"""Bounds on what a stranger, or a mistake, can make large: rates, sizes, patience, quotas, disk."""
