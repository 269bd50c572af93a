"""How a server is reached."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio

from ._errors import InvalidArgumentError

Pem = bytes | str | os.PathLike[str]
DEFAULT: Any = object()  # "the client's time-out", beside None: none


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM, as bytes or as a file's path. `root`: whose certificates are trusted (None: the system's). `certificate` and `key`: one's own, where
    the server asks for one. `server_name`: what the server's certificate says, where that is not the address.
    """

    root: Pem | None = None
    certificate: Pem | None = None
    key: Pem | None = None
    server_name: str | None = None

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise InvalidArgumentError("tls: a certificate and its key go together")


def _content(pem: Pem | None) -> bytes | None:
    if pem is None or isinstance(pem, bytes):
        return pem
    try:
        with open(pem, "rb") as file:
            return file.read()
    except OSError as error:
        raise InvalidArgumentError(f"tls: {error}") from None


_SCHEMES = ("unix:", "unix-abstract:", "dns:", "ipv4:", "ipv6:")  # gRPC's own
_PORT = 7420


def whole_address(text: str) -> str:
    """HOST:PORT; without a port 7420. Errors: InvalidArgumentError"""
    if text.startswith(_SCHEMES):
        return text
    bracketed = re.fullmatch(r"\[([^\[\]]+)\](?::(.*))?", text)
    host, port = bracketed.groups() if bracketed else (text, None)
    if not bracketed and text.count(":") == 1:
        host, port = text.split(":")
    if not host or re.search(r"[\s/]" if bracketed else r"[\s/\[\]]", host):
        raise InvalidArgumentError(f"{text!r} is no address: HOST:PORT, [IPV6]:PORT or unix:PATH")
    if port is not None and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise InvalidArgumentError(f"{text!r} is no address: its port is no number from 1 to 65535")
    return f"[{host}]:{port or _PORT}" if ":" in host else f"{host}:{port or _PORT}"


def addresses_of(given: str | Sequence[str]) -> list[str]:
    """HOST:PORT,HOST:PORT, or a list of them; each once. Errors: InvalidArgumentError"""
    texts = [given] if isinstance(given, str) else list(given)
    found = [one.strip() for text in texts for one in text.split(",")]
    if not found or not all(found):
        raise InvalidArgumentError(f"{given!r} has an empty address: HOST:PORT, or several, HOST:PORT,HOST:PORT")
    return list(dict.fromkeys(whole_address(one) for one in found))


def channel(
    address: str,
    tls: Tls | bool,
    message_bytes_max: int,
    keepalive: float | None,
    options: Sequence[tuple[str, Any]],
    several: bool,
) -> grpc.aio.Channel:
    """`several`: there are others to ask, so that one that is silent is given up sooner."""
    if keepalive is None:
        keepalive = 1.0 if several else 20.0
    settings: dict[str, Any] = {
        "grpc.max_receive_message_length": message_bytes_max,
        "grpc.max_send_message_length": -1,  # the server says what is too large
        "grpc.max_metadata_size": 64 << 10,  # an error's details, conflicting events among them
        "grpc.absolute_max_metadata_size": 128 << 10,
        "grpc.keepalive_time_ms": int(keepalive * 1000),
        "grpc.keepalive_timeout_ms": 1_500 if several else 10_000,
        "grpc.keepalive_permit_without_calls": 1,
        "grpc.http2.max_pings_without_data": 0,  # an idle subscription lives
        "grpc.initial_reconnect_backoff_ms": 50,
        "grpc.max_reconnect_backoff_ms": 1_000,
        "grpc.enable_retries": 0,  # retrying is decided in one place: _retry.py
        "grpc.use_local_subchannel_pool": 1,  # a client's connection is its own
    }
    if isinstance(tls, Tls) and tls.server_name is not None:
        settings["grpc.ssl_target_name_override"] = tls.server_name
    settings.update(options)
    if tls is False:
        return grpc.aio.insecure_channel(address, options=list(settings.items()))
    files = tls if isinstance(tls, Tls) else Tls()
    credentials = grpc.ssl_channel_credentials(_content(files.root), _content(files.key), _content(files.certificate))
    return grpc.aio.secure_channel(address, credentials, options=list(settings.items()))
