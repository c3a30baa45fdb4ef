"""The whole service on one machine, nothing installed beside it: a private Redis, the API and a worker.

Import `EmbeddedStack` from `rankery.embedded.stack`. This module stays empty because every process of the
service passes through `rankery.embedded.tether` on its way up.
"""
