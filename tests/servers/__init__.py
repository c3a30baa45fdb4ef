"""The servers that an installation may share: a broker, PostgreSQL and an object store."""

from tests.servers.broker import BrokerServer, running_broker
from tests.servers.postgres import PostgresServer
from tests.servers.s3 import S3Server
from tests.servers.tcp_proxy import TcpProxy

__all__ = ["BrokerServer", "PostgresServer", "S3Server", "TcpProxy", "running_broker"]
