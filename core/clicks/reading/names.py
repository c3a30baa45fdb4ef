"""Usual names of actions that are impressions."""

# The first is the name by which impressions of other formats are counted.
IMPRESSION_ACTIONS = ("impression", "view", "shown", "item_impression", "product_impression")
