"""The embedded service: a private Valkey, the API and a worker on one machine.

Import `EmbeddedStack` from `rankery.embedded.stack`. This module stays empty because every process of the
service imports it: each is started by `rankery.embedded.tether`.
"""
