"""Durability, shown with real processes and servers that are killed, filled up or cut off."""
