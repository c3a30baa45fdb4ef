"""Admission control: delay, bound or refuse requests so that scoring stays fast.

Each limiter acts at a different stage of a request: `AdmissionLimiter` before authentication, `body_timeout`
while the client sends the body, `expensive_reads` in the route, `low_priority` in another process. Writers of
SQLite queue in `core.store.sqlite_write_lock`, since workers and commands write, too. `limits` also has the
table of all limits of concurrency, rates and time.
"""
