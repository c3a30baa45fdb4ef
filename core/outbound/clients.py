"""HTTP clients that connect only to addresses that a guard allows.

Their transports are built on httpcore's connection pools. The network backend of a pool resolves and checks
the host, then connects to the very address that was checked. The `Host` header and the TLS server name remain
those of the host.
"""

import os
import ssl
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import anyio
import httpcore
import httpx

from core.outbound.guard import SsrfGuard

_SocketOptions = Iterable[Any] | None
# Names are resolved in separate threads, so that an unresponsive DNS server cannot block request threads.
_RESOLVER_THREADS = 16

_HTTPX_ERRORS: Mapping[type[Exception], type[httpx.TransportError]] = MappingProxyType(
    {  # the first matching type applies
        httpcore.ConnectTimeout: httpx.ConnectTimeout,
        httpcore.ReadTimeout: httpx.ReadTimeout,
        httpcore.WriteTimeout: httpx.WriteTimeout,
        httpcore.PoolTimeout: httpx.PoolTimeout,
        httpcore.ConnectError: httpx.ConnectError,
        httpcore.ReadError: httpx.ReadError,
        httpcore.WriteError: httpx.WriteError,
        httpcore.LocalProtocolError: httpx.LocalProtocolError,
        httpcore.RemoteProtocolError: httpx.RemoteProtocolError,
        httpcore.UnsupportedProtocol: httpx.UnsupportedProtocol,
    }
)


def open_client(
    guard: SsrfGuard,
    *,
    timeout: httpx.Timeout | float,
    verify: ssl.SSLContext | None = None,
) -> httpx.Client:
    """Open a client whose connections, also for redirects, are checked by a guard; close it after use.

    Requests raise `core.errors.AddressRefused` in addition to the errors of httpx. Proxies of the environment
    are not used. Certificates are verified; `SSL_CERT_FILE` and `SSL_CERT_DIR` select other authorities.

    Args:
        timeout: Seconds for each of connecting, reading and writing; a synchronous client also waits for the
            resolver.
        verify: TLS context to use instead of the default.
    """
    transport = _Transport(guard, verify or httpx.create_ssl_context())
    return httpx.Client(transport=transport, timeout=timeout, trust_env=False)


def open_async_client(
    guard: SsrfGuard,
    *,
    timeout: httpx.Timeout | float,
    headers: Mapping[str, str] = MappingProxyType({}),
    verify: ssl.SSLContext | None = None,
) -> httpx.AsyncClient:
    """Open an asynchronous client; see `open_client`.

    Asynchronous clients of a process without `verify` share the certificate authorities that the first one
    has read.
    """
    files = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    transport = _AsyncTransport(guard, verify or _shared_context(*files))
    return httpx.AsyncClient(transport=transport, timeout=timeout, headers=dict(headers), trust_env=False)


@lru_cache
def _shared_context(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    """Read the certificate authorities that the environment selects, which takes 25 ms of CPU time."""
    return httpx.create_ssl_context()


class _Backend(httpcore.SyncBackend):
    """A network backend that connects only to addresses checked by a guard."""

    def __init__(self, guard: SsrfGuard) -> None:
        self._guard = guard

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: _SocketOptions = None,
    ) -> httpcore.NetworkStream:
        deadline = None if timeout is None else time.monotonic() + timeout
        addresses = _resolved(self._guard, host, port)
        for number, address in enumerate(addresses, 1):
            remaining = None if deadline is None else max(deadline - time.monotonic(), 0.001)
            try:
                return super().connect_tcp(address, port, remaining, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if number == len(addresses):
                    raise
        raise AssertionError("a host without addresses was not refused")

    def connect_unix_socket(self, *_arguments: Any, **_options: Any) -> httpcore.NetworkStream:
        raise NotImplementedError("only TCP connections are checked")


class _AsyncBackend(httpcore.AnyIOBackend):
    """The asynchronous form of `_Backend`."""

    def __init__(self, guard: SsrfGuard) -> None:
        self._guard = guard
        self._threads = anyio.CapacityLimiter(_RESOLVER_THREADS)

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: _SocketOptions = None,
    ) -> httpcore.AsyncNetworkStream:
        deadline = None if timeout is None else time.monotonic() + timeout
        addresses = await self._resolved(host, port, timeout)
        for number, address in enumerate(addresses, 1):
            remaining = None if deadline is None else max(deadline - time.monotonic(), 0.001)
            try:
                return await super().connect_tcp(address, port, remaining, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if number == len(addresses):
                    raise
        raise AssertionError("a host without addresses was not refused")

    async def connect_unix_socket(self, *_arguments: Any, **_options: Any) -> httpcore.AsyncNetworkStream:
        raise NotImplementedError("only TCP connections are checked")

    async def _resolved(self, host: str, port: int, timeout: float | None) -> list[str]:
        try:
            with anyio.fail_after(timeout):
                return await anyio.to_thread.run_sync(
                    _resolved, self._guard, host, port, limiter=self._threads, abandon_on_cancel=True
                )
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(f"the address of {host} was not resolved in time") from error


def _resolved(guard: SsrfGuard, host: str, port: int) -> list[str]:
    try:
        return guard.addresses_of(host, port)
    except OSError as error:
        raise httpcore.ConnectError(f"{host}: {error.strerror or error}") from error
    except UnicodeError as error:  # of the resolver, for a host of a redirect such as a..b
        raise httpcore.ConnectError(f"{host} is not a host name: {error}") from error


class _Transport(httpx.BaseTransport):
    def __init__(self, guard: SsrfGuard, context: ssl.SSLContext) -> None:
        self._pool = httpcore.ConnectionPool(ssl_context=context, network_backend=_Backend(guard))

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        with _as_httpx_errors():
            response = self._pool.handle_request(_request(request))
        return httpx.Response(
            response.status, headers=response.headers, stream=_Body(response), extensions=response.extensions
        )

    def close(self) -> None:
        self._pool.close()


class _AsyncTransport(httpx.AsyncBaseTransport):
    def __init__(self, guard: SsrfGuard, context: ssl.SSLContext) -> None:
        self._pool = httpcore.AsyncConnectionPool(ssl_context=context, network_backend=_AsyncBackend(guard))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        with _as_httpx_errors():
            response = await self._pool.handle_async_request(_request(request))
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_AsyncBody(response),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Body(httpx.SyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx_errors():
            yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


class _AsyncBody(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _as_httpx_errors():
            async for part in self._response.aiter_stream():
                yield part

    async def aclose(self) -> None:
        await self._response.aclose()


def _request(request: httpx.Request) -> httpcore.Request:
    return httpcore.Request(
        request.method,
        httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        ),
        headers=request.headers.raw,
        content=request.stream,
        extensions=request.extensions,
    )


@contextmanager
def _as_httpx_errors() -> Iterator[None]:
    try:
        yield
    except tuple(_HTTPX_ERRORS) as error:
        kind = next(target for source, target in _HTTPX_ERRORS.items() if isinstance(error, source))
        raise kind(str(error)) from error
