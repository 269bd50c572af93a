"""Client of Evershard, an event store. Blocking: Client; asyncio: evershard.aio.Client."""

from . import aio
from ._append import Append, AppendOutcome
from ._client import AppendMany, Client, EventReader, GroupWorker, Subscription
from ._connection import Tls
from ._derived import Document, IndexEntry, IndexPage, ProjectionInfo, TablePage, ValueEntry, ValuePage
from ._errors import (
                      CallCancelledError,
                      ConditionFailedError,
                      ConflictError,
                      CorruptionError,
                      DuplicateEventError,
                      ErrorCode,
                      EvershardError,
                      FencedError,
                      InvalidArgumentError,
                      InvalidQueryError,
                      IoError,
                      NotFoundError,
                      OutcomeUnknownError,
                      OverloadedError,
                      PermissionDeniedError,
                      ProtocolError,
                      TimeoutError,
                      TooLargeError,
                      UnauthenticatedError,
                      UnavailableError,
                      VersionConflictError,
                      WrongShardError,
)
from ._groups import GroupDelivery, GroupInfo
from ._recorded import AggregateInfo, Appended, EventState, FeedItem, FeedKind, Progress, RecordedEvent, RecordedSnapshot, Stats, VerifyReport
from ._retention import RetentionEntry, RetentionPolicy, RetentionResult
from ._values import AggregateId, AppendCondition, CommandRecord, Event, ExpectedVersion, PayloadFormat, Query, QueryItem, Snapshot

__version__ = "0.1.0"

__all__ = [
    "AggregateId", "AggregateInfo", "Append", "AppendCondition", "AppendMany", "AppendOutcome", "Appended", "CallCancelledError", "Client", "CommandRecord",
    "ConditionFailedError", "ConflictError", "CorruptionError", "Document", "DuplicateEventError", "ErrorCode", "Event", "EventReader", "EventState", "EvershardError",
    "ExpectedVersion", "FeedItem", "FeedKind", "FencedError", "GroupDelivery", "GroupInfo", "GroupWorker", "IndexEntry", "IndexPage", "InvalidArgumentError", "InvalidQueryError", "IoError", "NotFoundError", "OutcomeUnknownError",
    "OverloadedError", "PayloadFormat", "PermissionDeniedError", "Progress", "ProjectionInfo", "ProtocolError", "Query", "QueryItem", "RecordedEvent", "RecordedSnapshot", "RetentionEntry",
    "RetentionPolicy", "RetentionResult",
    "Snapshot", "Stats", "Subscription", "TablePage", "TimeoutError", "Tls", "TooLargeError", "UnauthenticatedError", "UnavailableError", "ValueEntry", "ValuePage", "VerifyReport",
    "VersionConflictError", "WrongShardError", "aio",
]
