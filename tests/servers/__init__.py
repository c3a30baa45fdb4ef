"""The servers that an installation may use in the place of files: PostgreSQL and an object store."""

from tests.servers.postgres import PostgresServer
from tests.servers.s3 import S3Server
from tests.servers.tcp_proxy import TcpProxy

__all__ = ["PostgresServer", "S3Server", "TcpProxy"]
