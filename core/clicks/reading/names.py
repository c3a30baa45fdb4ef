"""Names of actions that are impressions, and the query id for logs without queries."""

# Impressions of formats without action names are counted by the first name.
IMPRESSION_ACTIONS = ("impression", "view", "shown", "item_impression", "product_impression")
ONE_QUERY = "all"  # query id where the log has no queries, or a session or ranking has none
