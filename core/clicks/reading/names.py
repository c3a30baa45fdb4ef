"""Usual names of actions that are impressions, and of the query of logs without queries."""

# The first is the name by which impressions of other formats are counted.
IMPRESSION_ACTIONS = ("impression", "view", "shown", "item_impression", "product_impression")
ONE_QUERY = "all"  # id of the query of lists without one
