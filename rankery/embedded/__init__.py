"""The embedded service: a private Valkey, the API and a worker on one machine.

Import `EmbeddedStack` from `rankery.embedded.stack`. This module stays empty because every process of the
service passes through `rankery.embedded.tether` on its way up.
"""
