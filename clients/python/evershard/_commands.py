"""Commands to the aggregates that a server's application hosts. See docs/aggregates-advanced.md, "From other languages"."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

from . import _wire
from ._connection import DEFAULT
from ._errors import InvalidArgumentError, ProtocolError
from ._values import AggregateId, AggregateIdLike
from .v1 import asks_pb2


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """What became of a command. A rejection is a rule's answer, not an error: nothing was written."""

    replied: bool
    reply: Any = (
        None  #: of a command that was asked with JSON what that says, else bytes; None: it says that it is done, and no more
    )
    rejection: str = ""
    duplicate: bool = False  #: this is the reply that was stored with the command's id
    version: int = 0  #: of the aggregate as the command left it
    position: int = 0  #: of the command's last event; 0: it wrote none

    def __bool__(self) -> bool:
        return self.replied


@dataclass(frozen=True, slots=True)
class HostedType:
    """How a type is written."""

    payload_format: int
    message: str  #: the full name of its Protobuf message; empty: the application has a codec of its own


@dataclass(frozen=True, slots=True)
class HostedCommand:
    name: str  #: logical
    type: HostedType
    reply: HostedType | None  #: None: it says that it is done, and no more
    query: bool  #: it can only look


@dataclass(frozen=True, slots=True)
class HostedEvent:
    name: str
    type: HostedType
    old: bool  #: read, and not written any more


@dataclass(frozen=True, slots=True)
class HostedKind:
    type: str
    state: HostedType
    commands: tuple[HostedCommand, ...]
    events: tuple[HostedEvent, ...]


@dataclass(frozen=True, slots=True)
class HostedKinds:
    """What the server's application hosts; of a server that hosts nothing, nothing."""

    kinds: tuple[HostedKind, ...]
    descriptors: bytes = field(default=b"", repr=False)  #: a FileDescriptorSet of every message that is named

    def message_class(self, name: str) -> type[Message]:
        """The class of a message that is named here, made of its descriptor; its messages can be asked. Errors: InvalidArgumentError"""
        pool = descriptor_pool.DescriptorPool()
        for file in descriptor_pb2.FileDescriptorSet.FromString(self.descriptors).file:
            pool.AddSerializedFile(file.SerializeToString())
        try:
            descriptor = pool.FindMessageTypeByName(name)
        except KeyError:
            raise InvalidArgumentError(f"no message {name!r} is described") from None
        make: Callable[[Any], type[Message]] | None = getattr(message_factory, "GetMessageClass", None)
        if make is None:  # before protobuf 4.22
            make = message_factory.MessageFactory(pool).GetPrototype  # type: ignore[attr-defined]
        return make(descriptor)


Command = Mapping[str, Any] | Sequence[Any] | Message | bytes | None


def request_of(
    aggregate: AggregateIdLike, command: str | Message, payload: Command, command_id: str, timeout: float | None
) -> asks_pb2.AskRequest:
    if isinstance(command, Message):
        if payload is not None:
            raise InvalidArgumentError("a command that is a message has no payload beside it")
        command, payload = command.DESCRIPTOR.full_name, command
    request: asks_pb2.AskRequest = _wire.checked(
        asks_pb2.AskRequest,
        aggregate=_wire.aggregate(AggregateId.of(aggregate)),
        command=command,
        command_id=command_id,
        timeout_ms=0 if timeout is None else max(1, math.ceil(timeout * 1000)),
    )
    if isinstance(payload, Message):
        request.bytes = payload.SerializeToString(deterministic=True)
    elif isinstance(payload, bytes):
        request.bytes = payload
    else:
        try:
            request.json = json.dumps({} if payload is None else payload, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InvalidArgumentError(f"the payload is no JSON: {error}") from None
    return request


def answer_of(m: asks_pb2.AskResponse, json_asked: bool) -> CommandAnswer:
    if m.HasField("rejected"):
        return CommandAnswer(False, rejection=m.rejected.reason, version=m.rejected.version)
    if not m.HasField("replied"):
        raise ProtocolError("the server answered with an outcome that is not known here")
    told = m.replied
    reply: Any = told.reply
    if json_asked:
        reply = json.loads(told.json) if told.json else (told.reply or None)
    return CommandAnswer(True, reply, duplicate=told.duplicate, version=told.version, position=told.position)


def _type_of(m: asks_pb2.HostedType) -> HostedType:
    return HostedType(m.payload_format, m.message)


def kinds_of(m: asks_pb2.ListKindsResponse) -> HostedKinds:
    return HostedKinds(
        tuple(
            HostedKind(
                kind.type,
                _type_of(kind.state),
                tuple(
                    HostedCommand(
                        one.name,
                        _type_of(one.type),
                        _type_of(one.reply) if one.HasField("reply") else None,
                        one.query,
                    )
                    for one in kind.commands
                ),
                tuple(HostedEvent(one.name, _type_of(one.type), one.old) for one in kind.events),
            )
            for kind in m.kinds
        ),
        m.descriptors,
    )


class CommandCalls:
    """Of the asyncio client."""

    async def ask(
        self,
        aggregate: AggregateIdLike,
        command: str | Message,
        payload: Command = None,
        *,
        command_id: str = "",
        timeout: float | None = DEFAULT,
    ) -> CommandAnswer:
        """Asks an aggregate a command, by its logical name, with what its JSON says (a dict; nothing is `{}`), a message or bytes; or with a
        message alone, whose name is the command's. `command_id`: the same again gives the stored reply, so it is asked again where a connection
        breaks; without one it is OutcomeUnknownError where it may have arrived. `timeout`: where it is given, the aggregate has no longer either.

        Errors: InvalidArgumentError: nobody hosts the type, there is no such command, or the payload is none of it; ConditionFailedError and others
        """
        given = None if timeout is DEFAULT else timeout
        request = request_of(aggregate, command, payload, command_id, given)
        told = await self._unary("Ask", lambda _: request, timeout, write=True, once=not command_id)
        answer = answer_of(told, request.HasField("json"))
        self.see(answer.position)
        return answer

    async def kinds(self, *, timeout: float | None = DEFAULT) -> HostedKinds:
        return kinds_of(await self._unary("ListKinds", lambda _: asks_pb2.ListKindsRequest(), timeout))

    # How: the client says it.

    async def _unary(
        self,
        method: str,
        request: Callable[[int], Any],
        timeout: float | None,
        *,
        write: bool = False,
        once: bool = False,
    ) -> Any:
        raise NotImplementedError

    def see(self, position: int) -> None:
        raise NotImplementedError
