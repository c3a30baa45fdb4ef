"""The servers that an installation may use in the place of files: PostgreSQL and an object store."""

from tests.servers.gate import Gate
from tests.servers.postgres import PostgresServer
from tests.servers.s3 import S3Server

__all__ = ["Gate", "PostgresServer", "S3Server"]
