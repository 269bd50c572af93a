from evershard.v1 import service_pb2 as _service_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DescribeTableRequest(_message.Message):
    __slots__ = ["table", "version"]
    TABLE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    table: str
    version: int
    def __init__(self, table: _Optional[str] = ..., version: _Optional[int] = ...) -> None: ...

class ExplainRequest(_message.Message):
    __slots__ = ["select", "table", "version"]
    SELECT_FIELD_NUMBER: _ClassVar[int]
    TABLE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    select: TableSelect
    table: str
    version: int
    def __init__(self, table: _Optional[str] = ..., select: _Optional[_Union[TableSelect, _Mapping]] = ..., version: _Optional[int] = ...) -> None: ...

class ExplainResponse(_message.Message):
    __slots__ = ["backwards", "field", "path", "sorted", "unfiltered"]
    BACKWARDS_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    SORTED_FIELD_NUMBER: _ClassVar[int]
    UNFILTERED_FIELD_NUMBER: _ClassVar[int]
    backwards: bool
    field: str
    path: int
    sorted: bool
    unfiltered: bool
    def __init__(self, path: _Optional[int] = ..., field: _Optional[str] = ..., sorted: bool = ..., backwards: bool = ..., unfiltered: bool = ...) -> None: ...

class ListParkedRowsRequest(_message.Message):
    __slots__ = ["after", "limit", "table"]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    TABLE_FIELD_NUMBER: _ClassVar[int]
    after: int
    limit: int
    table: str
    def __init__(self, table: _Optional[str] = ..., after: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class ListParkedRowsResponse(_message.Message):
    __slots__ = ["parked"]
    PARKED_FIELD_NUMBER: _ClassVar[int]
    parked: _containers.RepeatedCompositeFieldContainer[ParkedRow]
    def __init__(self, parked: _Optional[_Iterable[_Union[ParkedRow, _Mapping]]] = ...) -> None: ...

class ListTablesRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ListTablesResponse(_message.Message):
    __slots__ = ["tables"]
    TABLES_FIELD_NUMBER: _ClassVar[int]
    tables: _containers.RepeatedCompositeFieldContainer[TableInfo]
    def __init__(self, tables: _Optional[_Iterable[_Union[TableInfo, _Mapping]]] = ...) -> None: ...

class ParkedRow(_message.Message):
    __slots__ = ["aggregate", "attempts", "kind", "part", "position", "reason", "type"]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    aggregate: str
    attempts: int
    kind: str
    part: int
    position: int
    reason: str
    type: str
    def __init__(self, position: _Optional[int] = ..., kind: _Optional[str] = ..., type: _Optional[str] = ..., aggregate: _Optional[str] = ..., reason: _Optional[str] = ..., attempts: _Optional[int] = ..., part: _Optional[int] = ...) -> None: ...

class SelectRequest(_message.Message):
    __slots__ = ["at_least", "select", "table", "version"]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    SELECT_FIELD_NUMBER: _ClassVar[int]
    TABLE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    at_least: _service_pb2.AtLeast
    select: TableSelect
    table: str
    version: int
    def __init__(self, table: _Optional[str] = ..., select: _Optional[_Union[TableSelect, _Mapping]] = ..., version: _Optional[int] = ..., at_least: _Optional[_Union[_service_pb2.AtLeast, _Mapping]] = ...) -> None: ...

class SelectResponse(_message.Message):
    __slots__ = ["fields", "looked_at", "next", "position", "rows", "types"]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    LOOKED_AT_FIELD_NUMBER: _ClassVar[int]
    NEXT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    fields: _containers.RepeatedScalarFieldContainer[str]
    looked_at: int
    next: str
    position: int
    rows: _containers.RepeatedCompositeFieldContainer[TableRow]
    types: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, fields: _Optional[_Iterable[str]] = ..., rows: _Optional[_Iterable[_Union[TableRow, _Mapping]]] = ..., next: _Optional[str] = ..., position: _Optional[int] = ..., looked_at: _Optional[int] = ..., types: _Optional[_Iterable[int]] = ...) -> None: ...

class SettleParkedRowsRequest(_message.Message):
    __slots__ = ["discard", "positions", "table"]
    DISCARD_FIELD_NUMBER: _ClassVar[int]
    POSITIONS_FIELD_NUMBER: _ClassVar[int]
    TABLE_FIELD_NUMBER: _ClassVar[int]
    discard: bool
    positions: _containers.RepeatedScalarFieldContainer[int]
    table: str
    def __init__(self, table: _Optional[str] = ..., positions: _Optional[_Iterable[int]] = ..., discard: bool = ...) -> None: ...

class SettleParkedRowsResponse(_message.Message):
    __slots__ = ["position"]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    position: int
    def __init__(self, position: _Optional[int] = ...) -> None: ...

class TableField(_message.Message):
    __slots__ = ["name", "nullable", "role", "type"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NULLABLE_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    name: str
    nullable: bool
    role: int
    type: int
    def __init__(self, name: _Optional[str] = ..., type: _Optional[int] = ..., role: _Optional[int] = ..., nullable: bool = ...) -> None: ...

class TableInfo(_message.Message):
    __slots__ = ["complete", "definition", "error", "fields", "figures", "position", "projection", "state", "table", "version"]
    class Figure(_message.Message):
        __slots__ = ["name", "value"]
        NAME_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        name: str
        value: int
        def __init__(self, name: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    FIGURES_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    PROJECTION_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    TABLE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    complete: bool
    definition: str
    error: str
    fields: _containers.RepeatedCompositeFieldContainer[TableField]
    figures: _containers.RepeatedCompositeFieldContainer[TableInfo.Figure]
    position: int
    projection: str
    state: str
    table: str
    version: int
    def __init__(self, projection: _Optional[str] = ..., version: _Optional[int] = ..., table: _Optional[str] = ..., fields: _Optional[_Iterable[_Union[TableField, _Mapping]]] = ..., definition: _Optional[str] = ..., position: _Optional[int] = ..., complete: bool = ..., state: _Optional[str] = ..., error: _Optional[str] = ..., figures: _Optional[_Iterable[_Union[TableInfo.Figure, _Mapping]]] = ...) -> None: ...

class TableOrder(_message.Message):
    __slots__ = ["descending", "field"]
    DESCENDING_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    descending: bool
    field: str
    def __init__(self, field: _Optional[str] = ..., descending: bool = ...) -> None: ...

class TableRow(_message.Message):
    __slots__ = ["values"]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedCompositeFieldContainer[TableValue]
    def __init__(self, values: _Optional[_Iterable[_Union[TableValue, _Mapping]]] = ...) -> None: ...

class TableSelect(_message.Message):
    __slots__ = ["continue_from", "fields", "limit", "order_by", "parameters", "where"]
    class ParametersEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: TableValue
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[TableValue, _Mapping]] = ...) -> None: ...
    CONTINUE_FROM_FIELD_NUMBER: _ClassVar[int]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    ORDER_BY_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    WHERE_FIELD_NUMBER: _ClassVar[int]
    continue_from: str
    fields: _containers.RepeatedScalarFieldContainer[str]
    limit: int
    order_by: _containers.RepeatedCompositeFieldContainer[TableOrder]
    parameters: _containers.MessageMap[str, TableValue]
    where: str
    def __init__(self, where: _Optional[str] = ..., parameters: _Optional[_Mapping[str, TableValue]] = ..., fields: _Optional[_Iterable[str]] = ..., order_by: _Optional[_Iterable[_Union[TableOrder, _Mapping]]] = ..., limit: _Optional[int] = ..., continue_from: _Optional[str] = ...) -> None: ...

class TableValue(_message.Message):
    __slots__ = ["boolean", "integer", "number", "string", "time_us"]
    BOOLEAN_FIELD_NUMBER: _ClassVar[int]
    INTEGER_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    STRING_FIELD_NUMBER: _ClassVar[int]
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    boolean: bool
    integer: int
    number: float
    string: bytes
    time_us: int
    def __init__(self, boolean: bool = ..., integer: _Optional[int] = ..., number: _Optional[float] = ..., time_us: _Optional[int] = ..., string: _Optional[bytes] = ...) -> None: ...
