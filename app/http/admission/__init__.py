"""Admission of requests: what delays, bounds or refuses them so that scoring stays fast.

Each limiter acts at another point of a request, so that none can replace another: `limiter` before
authentication, `body_timeout` while the client sends, `expensive_reads` once the caller and the question are
known, `low_priority` outside this process. Writers of SQLite queue in `core.store.sqlite_write_lock`, since
workers and commands write, too. `limits` is the table of all of them.
"""
