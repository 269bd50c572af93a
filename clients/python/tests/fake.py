"""A server that misbehaves as it is told to: scripted answers, in Python's own gRPC."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any

import grpc
from google.protobuf import any_pb2
from google.rpc import status_pb2

from evershard import ErrorCode
from evershard.v1 import (
    event_pb2,
    groups_pb2_grpc,
    scheduled_pb2_grpc,
    service_pb2,
    service_pb2_grpc,
    store_pb2,
)


def refuse(
    context: grpc.ServicerContext,
    status: grpc.StatusCode,
    code: ErrorCode,
    message: str = "no",
    **fields: Any,
) -> None:
    packed = any_pb2.Any()
    packed.Pack(store_pb2.Error(code=int(code), message=message, **fields))  # type: ignore[arg-type]
    whole = status_pb2.Status(code=status.value[0], message=message, details=[packed])
    context.set_trailing_metadata((("grpc-status-details-bin", whole.SerializeToString()),))
    context.abort(status, message)


class Fake(service_pb2_grpc.EventStoreServicer, service_pb2_grpc.AdministrationServicer):  # type: ignore[misc]
    """Each call takes the next of its script's steps; the last one stays."""

    def __init__(self) -> None:
        self.scripts: dict[str, list[Callable[..., Any]]] = {}
        self.seen: list[Any] = []
        self.lock = threading.Lock()

    def _step(self, name: str, request: Any, context: Any) -> Any:
        with self.lock:
            if name != "AppendMany":
                self.seen.append(request)
            script = self.scripts[name]
            step = script.pop(0) if len(script) > 1 else script[0]
        return step(request, context)

    def Append(self, request: Any, context: Any) -> Any:
        return self._step("Append", request, context)

    def AppendMany(self, request: Any, context: Any) -> Iterator[Any]:
        yield from self._step("AppendMany", request, context)

    def Read(self, request: Any, context: Any) -> Iterator[Any]:
        yield from self._step("Read", request, context)

    def Subscribe(self, request: Any, context: Any) -> Iterator[Any]:
        yield from self._step("Subscribe", request, context)

    def Head(self, request: Any, context: Any) -> Any:
        return self._step("Head", request, context)

    def GetState(self, request: Any, context: Any) -> Any:
        return self._step("GetState", request, context)

    def Backup(self, request: Any, context: Any) -> Iterator[Any]:
        yield from self._step("Backup", request, context)

    def Verify(self, request: Any, context: Any) -> Iterator[Any]:
        yield from self._step("Verify", request, context)


def serve(
    fake: Fake,
    credentials: grpc.ServerCredentials | None = None,
    groups: groups_pb2_grpc.GroupsServicer | None = None,
    scheduled: scheduled_pb2_grpc.ScheduledAppendsServicer | None = None,
) -> tuple[grpc.Server, str]:
    server = grpc.server(futures.ThreadPoolExecutor(16))
    service_pb2_grpc.add_EventStoreServicer_to_server(fake, server)  # type: ignore[no-untyped-call]
    service_pb2_grpc.add_AdministrationServicer_to_server(fake, server)  # type: ignore[no-untyped-call]
    if groups is not None:
        groups_pb2_grpc.add_GroupsServicer_to_server(groups, server)  # type: ignore[no-untyped-call]
    if scheduled is not None:
        scheduled_pb2_grpc.add_ScheduledAppendsServicer_to_server(scheduled, server)  # type: ignore[no-untyped-call]
    port = (
        server.add_insecure_port("127.0.0.1:0")
        if credentials is None
        else server.add_secure_port("127.0.0.1:0", credentials)
    )
    server.start()
    return server, f"127.0.0.1:{port}"


def event(position: int) -> event_pb2.RecordedEvent:
    return event_pb2.RecordedEvent(
        position=position,
        id=bytes(16),
        type="T",
        seq_nr=position,
        aggregate=event_pb2.AggregateId(type="a", value="1"),
    )


def events(*positions: int, watermark: int | None = None) -> service_pb2.SubscribeResponse:
    return service_pb2.SubscribeResponse(
        kind=service_pb2.SubscribeResponse.KIND_EVENTS,
        events=[event(p) for p in positions],
        watermark=watermark or positions[-1],
    )


def appended(position: int = 1, duplicate: bool = False) -> store_pb2.AppendResponse:
    return store_pb2.AppendResponse(
        first_position=position,
        last_position=position,
        duplicate=duplicate,
        watermark=position,
    )
