from evershard.v1 import event_pb2 as _event_pb2
from evershard.v1 import projections_pb2 as _projections_pb2
from evershard.v1 import service_pb2 as _service_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DefineDocumentsRequest(_message.Message):
    __slots__ = ["expected", "rebuild", "spec", "type"]
    EXPECTED_FIELD_NUMBER: _ClassVar[int]
    REBUILD_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    expected: int
    rebuild: bool
    spec: bytes
    type: str
    def __init__(self, type: _Optional[str] = ..., spec: _Optional[bytes] = ..., expected: _Optional[int] = ..., rebuild: bool = ...) -> None: ...

class DescribeDocumentsRequest(_message.Message):
    __slots__ = ["at_least", "type"]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    at_least: _service_pb2.AtLeast
    type: str
    def __init__(self, type: _Optional[str] = ..., at_least: _Optional[_Union[_service_pb2.AtLeast, _Mapping]] = ...) -> None: ...

class Document(_message.Message):
    __slots__ = ["aggregate", "definition", "json", "last_problem", "position", "problems", "version"]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    LAST_PROBLEM_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    aggregate: _event_pb2.AggregateId
    definition: int
    json: bytes
    last_problem: str
    position: int
    problems: int
    version: int
    def __init__(self, aggregate: _Optional[_Union[_event_pb2.AggregateId, _Mapping]] = ..., json: _Optional[bytes] = ..., version: _Optional[int] = ..., position: _Optional[int] = ..., problems: _Optional[int] = ..., last_problem: _Optional[str] = ..., definition: _Optional[int] = ...) -> None: ...

class DocumentDefinition(_message.Message):
    __slots__ = ["since", "spec", "type", "version"]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    since: int
    spec: bytes
    type: str
    version: int
    def __init__(self, type: _Optional[str] = ..., spec: _Optional[bytes] = ..., version: _Optional[int] = ..., since: _Optional[int] = ...) -> None: ...

class DocumentDefinitionsRequest(_message.Message):
    __slots__ = ["at_least"]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    at_least: _service_pb2.AtLeast
    def __init__(self, at_least: _Optional[_Union[_service_pb2.AtLeast, _Mapping]] = ...) -> None: ...

class DocumentDefinitionsResponse(_message.Message):
    __slots__ = ["definitions"]
    DEFINITIONS_FIELD_NUMBER: _ClassVar[int]
    definitions: _containers.RepeatedCompositeFieldContainer[DocumentDefinition]
    def __init__(self, definitions: _Optional[_Iterable[_Union[DocumentDefinition, _Mapping]]] = ...) -> None: ...

class DropDocumentsRequest(_message.Message):
    __slots__ = ["type"]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    type: str
    def __init__(self, type: _Optional[str] = ...) -> None: ...

class DropDocumentsResponse(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class GetDocumentRequest(_message.Message):
    __slots__ = ["aggregate", "at_least", "eventual"]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    EVENTUAL_FIELD_NUMBER: _ClassVar[int]
    aggregate: _event_pb2.AggregateId
    at_least: _service_pb2.AtLeast
    eventual: bool
    def __init__(self, aggregate: _Optional[_Union[_event_pb2.AggregateId, _Mapping]] = ..., eventual: bool = ..., at_least: _Optional[_Union[_service_pb2.AtLeast, _Mapping]] = ...) -> None: ...

class ListDocumentsRequest(_message.Message):
    __slots__ = ["after", "at_least", "definition", "filter", "limit", "type"]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    after: bytes
    at_least: _service_pb2.AtLeast
    definition: int
    filter: str
    limit: int
    type: str
    def __init__(self, type: _Optional[str] = ..., after: _Optional[bytes] = ..., limit: _Optional[int] = ..., filter: _Optional[str] = ..., at_least: _Optional[_Union[_service_pb2.AtLeast, _Mapping]] = ..., definition: _Optional[int] = ...) -> None: ...

class ListDocumentsResponse(_message.Message):
    __slots__ = ["definition", "documents", "next", "position"]
    DEFINITION_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    definition: int
    documents: _containers.RepeatedCompositeFieldContainer[Document]
    next: bytes
    position: int
    def __init__(self, documents: _Optional[_Iterable[_Union[Document, _Mapping]]] = ..., next: _Optional[bytes] = ..., position: _Optional[int] = ..., definition: _Optional[int] = ...) -> None: ...

class RemoveDocumentRequest(_message.Message):
    __slots__ = ["aggregate", "at_least"]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    aggregate: _event_pb2.AggregateId
    at_least: _service_pb2.AtLeast
    def __init__(self, aggregate: _Optional[_Union[_event_pb2.AggregateId, _Mapping]] = ..., at_least: _Optional[_Union[_service_pb2.AtLeast, _Mapping]] = ...) -> None: ...

class RemoveDocumentResponse(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...
