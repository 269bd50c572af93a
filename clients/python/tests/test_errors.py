"""What a failed call becomes."""

from __future__ import annotations

import pathlib

import grpc
import grpc.aio
import pytest
from google.protobuf import any_pb2
from google.rpc import status_pb2

import evershard
from evershard import ErrorCode, _errors, _wire
from evershard.v1 import store_pb2

WIRE = pathlib.Path(__file__).parents[3] / "tests/golden/wire"


def failed(code: grpc.StatusCode, text: str = "", detail: store_pb2.Error | None = None) -> grpc.aio.AioRpcError:
    trailing = grpc.aio.Metadata()
    if detail is not None:
        packed = any_pb2.Any()
        packed.Pack(detail)
        trailing.add(
            "grpc-status-details-bin",
            status_pb2.Status(code=code.value[0], details=[packed]).SerializeToString(),
        )
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), trailing, text)


def test_every_code_has_a_class_of_its_own() -> None:
    codes = [value for name, value in store_pb2.ErrorCode.items() if value]
    assert sorted(codes) == [int(code) for code in ErrorCode if code]
    classes = [_errors.class_of(code) for code in codes]
    assert len(set(classes)) == len(codes)
    for code in codes:
        error = _wire.failure(failed(grpc.StatusCode.ABORTED, "", store_pb2.Error(code=code, message="why")))
        assert type(error) is _errors.class_of(code) and error.code == code and error.told_by_server
        assert str(error) == f"{ErrorCode(code).name.lower()}: why"


def test_details_are_attributes() -> None:
    conflict = _wire.failure(
        failed(
            grpc.StatusCode.ABORTED,
            "",
            store_pb2.Error.FromString((WIRE / "Error-version_conflict.bin").read_bytes()),
        )
    )
    assert isinstance(conflict, evershard.VersionConflictError) and isinstance(conflict, evershard.ConflictError)
    assert (
        str(conflict.aggregate),
        str(conflict.expected),
        conflict.actual,
        conflict.position,
        conflict.conflicts,
    ) == ("order-1", "3", 0, None, ())
    condition = _wire.failure(
        failed(
            grpc.StatusCode.ABORTED,
            "",
            store_pb2.Error.FromString((WIRE / "Error-condition_failed.bin").read_bytes()),
        )
    )
    assert isinstance(condition, evershard.ConditionFailedError)
    assert (
        condition.condition,
        condition.position,
        [event.position for event in condition.conflicts],
    ) == (0, 300, [300, 301])
    busy = _wire.failure(
        failed(
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            "",
            store_pb2.Error.FromString((WIRE / "Error-overloaded.bin").read_bytes()),
        )
    )
    assert isinstance(busy, evershard.OverloadedError) and (
        busy.retry_after,
        busy.shard,
    ) == (0.02, 3)


def test_a_code_of_tomorrow_is_an_error_all_the_same() -> None:
    error = _wire.failure(failed(grpc.StatusCode.ABORTED, "", store_pb2.Error(code=99, message="new")))  # type: ignore[arg-type]
    assert type(error) is evershard.ProtocolError and error.message == "new"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (grpc.StatusCode.UNAVAILABLE, evershard.UnavailableError),
        (grpc.StatusCode.UNKNOWN, evershard.UnavailableError),
        (grpc.StatusCode.INTERNAL, evershard.UnavailableError),
        (grpc.StatusCode.CANCELLED, evershard.UnavailableError),
        (grpc.StatusCode.DEADLINE_EXCEEDED, evershard.TimeoutError),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, evershard.TooLargeError),
        (grpc.StatusCode.UNAUTHENTICATED, evershard.UnauthenticatedError),
        (grpc.StatusCode.UNIMPLEMENTED, evershard.ProtocolError),
    ],
)
def test_what_grpc_says_itself(code: grpc.StatusCode, kind: type[evershard.EvershardError]) -> None:
    error = _wire.failure(failed(code, "text"))
    assert type(error) is kind and not error.told_by_server and "text" in error.message


def test_details_that_are_none_do_no_harm() -> None:
    call = grpc.aio.AioRpcError(
        grpc.StatusCode.ABORTED,
        grpc.aio.Metadata(),
        grpc.aio.Metadata(("grpc-status-details-bin", b"\xff\xff")),
        "text",
    )
    assert type(_wire.failure(call)) is evershard.CallCancelledError


def test_a_time_out_is_pythons_too() -> None:
    assert issubclass(evershard.OutcomeUnknownError, TimeoutError) and issubclass(
        evershard.InvalidArgumentError, ValueError
    )
