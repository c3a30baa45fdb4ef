"""The dashboard of services that let nobody in without a key."""
