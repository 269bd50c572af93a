import type { GenFile, GenMessage, GenService } from "@bufbuild/protobuf/codegenv2";
import type { AtLeast } from "./service_pb.js";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file evershard/v1/tables.proto.
 */
export declare const file_evershard_v1_tables: GenFile;
/**
 * @generated from message evershard.v1.TableValue
 */
export type TableValue = Message<"evershard.v1.TableValue"> & {
    /**
     * none: null
     *
     * @generated from oneof evershard.v1.TableValue.value
     */
    value: {
        /**
         * @generated from field: bool boolean = 1;
         */
        value: boolean;
        case: "boolean";
    } | {
        /**
         * @generated from field: sint64 integer = 2;
         */
        value: bigint;
        case: "integer";
    } | {
        /**
         * @generated from field: double number = 3;
         */
        value: number;
        case: "number";
    } | {
        /**
         * since 1970-01-01T00:00:00Z
         *
         * @generated from field: sint64 time_us = 4;
         */
        value: bigint;
        case: "timeUs";
    } | {
        /**
         * text and JSON: UTF-8; bytes: as they are
         *
         * @generated from field: bytes string = 5;
         */
        value: Uint8Array;
        case: "string";
    } | {
        case: undefined;
        value?: undefined;
    };
};
/**
 * Describes the message evershard.v1.TableValue.
 * Use `create(TableValueSchema)` to create a new message.
 */
export declare const TableValueSchema: GenMessage<TableValue>;
/**
 * @generated from message evershard.v1.TableOrder
 */
export type TableOrder = Message<"evershard.v1.TableOrder"> & {
    /**
     * @generated from field: string field = 1;
     */
    field: string;
    /**
     * @generated from field: bool descending = 2;
     */
    descending: boolean;
};
/**
 * Describes the message evershard.v1.TableOrder.
 * Use `create(TableOrderSchema)` to create a new message.
 */
export declare const TableOrderSchema: GenMessage<TableOrder>;
/**
 * @generated from message evershard.v1.TableSelect
 */
export type TableSelect = Message<"evershard.v1.TableSelect"> & {
    /**
     * docs/tables.md, "Filters"; empty: every row
     *
     * @generated from field: string where = 1;
     */
    where: string;
    /**
     * @generated from field: map<string, evershard.v1.TableValue> parameters = 2;
     */
    parameters: {
        [key: string]: TableValue;
    };
    /**
     * none: all
     *
     * @generated from field: repeated string fields = 3;
     */
    fields: string[];
    /**
     * @generated from field: repeated evershard.v1.TableOrder order_by = 4;
     */
    orderBy: TableOrder[];
    /**
     * of the page: at most 10,000, absent: 1,000
     *
     * @generated from field: optional uint64 limit = 5;
     */
    limit?: bigint | undefined;
    /**
     * a page's `next`
     *
     * @generated from field: string continue_from = 6;
     */
    continueFrom: string;
};
/**
 * Describes the message evershard.v1.TableSelect.
 * Use `create(TableSelectSchema)` to create a new message.
 */
export declare const TableSelectSchema: GenMessage<TableSelect>;
/**
 * @generated from message evershard.v1.SelectRequest
 */
export type SelectRequest = Message<"evershard.v1.SelectRequest"> & {
    /**
     * the projection's name; required
     *
     * @generated from field: string table = 1;
     */
    table: string;
    /**
     * @generated from field: evershard.v1.TableSelect select = 2;
     */
    select?: TableSelect | undefined;
    /**
     * absent: the newest that has caught up once
     *
     * @generated from field: optional uint64 version = 3;
     */
    version?: bigint | undefined;
    /**
     * What the table must have passed, with the time that may take.
     *
     * @generated from field: evershard.v1.AtLeast at_least = 4;
     */
    atLeast?: AtLeast | undefined;
};
/**
 * Describes the message evershard.v1.SelectRequest.
 * Use `create(SelectRequestSchema)` to create a new message.
 */
export declare const SelectRequestSchema: GenMessage<SelectRequest>;
/**
 * @generated from message evershard.v1.TableRow
 */
export type TableRow = Message<"evershard.v1.TableRow"> & {
    /**
     * one a field
     *
     * @generated from field: repeated evershard.v1.TableValue values = 1;
     */
    values: TableValue[];
};
/**
 * Describes the message evershard.v1.TableRow.
 * Use `create(TableRowSchema)` to create a new message.
 */
export declare const TableRowSchema: GenMessage<TableRow>;
/**
 * @generated from message evershard.v1.SelectResponse
 */
export type SelectResponse = Message<"evershard.v1.SelectResponse"> & {
    /**
     * @generated from field: repeated string fields = 1;
     */
    fields: string[];
    /**
     * @generated from field: repeated evershard.v1.TableRow rows = 2;
     */
    rows: TableRow[];
    /**
     * empty: nothing follows
     *
     * @generated from field: string next = 3;
     */
    next: string;
    /**
     * every event up to here has had its effect in these rows, none behind it
     *
     * @generated from field: uint64 position = 4;
     */
    position: bigint;
    /**
     * rows
     *
     * @generated from field: uint64 looked_at = 5;
     */
    lookedAt: bigint;
    /**
     * one a field, as TableField.type
     *
     * @generated from field: repeated uint32 types = 6;
     */
    types: number[];
};
/**
 * Describes the message evershard.v1.SelectResponse.
 * Use `create(SelectResponseSchema)` to create a new message.
 */
export declare const SelectResponseSchema: GenMessage<SelectResponse>;
/**
 * @generated from message evershard.v1.ExplainRequest
 */
export type ExplainRequest = Message<"evershard.v1.ExplainRequest"> & {
    /**
     * @generated from field: string table = 1;
     */
    table: string;
    /**
     * @generated from field: evershard.v1.TableSelect select = 2;
     */
    select?: TableSelect | undefined;
    /**
     * @generated from field: optional uint64 version = 3;
     */
    version?: bigint | undefined;
};
/**
 * Describes the message evershard.v1.ExplainRequest.
 * Use `create(ExplainRequestSchema)` to create a new message.
 */
export declare const ExplainRequestSchema: GenMessage<ExplainRequest>;
/**
 * @generated from message evershard.v1.ExplainResponse
 */
export type ExplainResponse = Message<"evershard.v1.ExplainResponse"> & {
    /**
     * 0 key, 1 unique, 2 index, 3 index_range, 4 key_range, 5 scan
     *
     * @generated from field: uint32 path = 1;
     */
    path: number;
    /**
     * @generated from field: string field = 2;
     */
    field: string;
    /**
     * @generated from field: bool sorted = 3;
     */
    sorted: boolean;
    /**
     * @generated from field: bool backwards = 4;
     */
    backwards: boolean;
    /**
     * every row is wanted
     *
     * @generated from field: bool unfiltered = 5;
     */
    unfiltered: boolean;
};
/**
 * Describes the message evershard.v1.ExplainResponse.
 * Use `create(ExplainResponseSchema)` to create a new message.
 */
export declare const ExplainResponseSchema: GenMessage<ExplainResponse>;
/**
 * @generated from message evershard.v1.DescribeTableRequest
 */
export type DescribeTableRequest = Message<"evershard.v1.DescribeTableRequest"> & {
    /**
     * @generated from field: string table = 1;
     */
    table: string;
    /**
     * @generated from field: optional uint64 version = 2;
     */
    version?: bigint | undefined;
};
/**
 * Describes the message evershard.v1.DescribeTableRequest.
 * Use `create(DescribeTableRequestSchema)` to create a new message.
 */
export declare const DescribeTableRequestSchema: GenMessage<DescribeTableRequest>;
/**
 * @generated from message evershard.v1.TableField
 */
export type TableField = Message<"evershard.v1.TableField"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * 1 text, 2 integer, 3 number, 4 boolean, 5 time, 6 bytes, 7 JSON
     *
     * @generated from field: uint32 type = 2;
     */
    type: number;
    /**
     * 0 normal, 1 key, 2 index, 3 unique
     *
     * @generated from field: uint32 role = 3;
     */
    role: number;
    /**
     * @generated from field: bool nullable = 4;
     */
    nullable: boolean;
};
/**
 * Describes the message evershard.v1.TableField.
 * Use `create(TableFieldSchema)` to create a new message.
 */
export declare const TableFieldSchema: GenMessage<TableField>;
/**
 * @generated from message evershard.v1.TableInfo
 */
export type TableInfo = Message<"evershard.v1.TableInfo"> & {
    /**
     * @generated from field: string projection = 1;
     */
    projection: string;
    /**
     * @generated from field: uint64 version = 2;
     */
    version: bigint;
    /**
     * @generated from field: string table = 3;
     */
    table: string;
    /**
     * @generated from field: repeated evershard.v1.TableField fields = 4;
     */
    fields: TableField[];
    /**
     * JSON
     *
     * @generated from field: string definition = 5;
     */
    definition: string;
    /**
     * @generated from field: uint64 position = 6;
     */
    position: bigint;
    /**
     * @generated from field: bool complete = 7;
     */
    complete: boolean;
    /**
     * @generated from field: string state = 8;
     */
    state: string;
    /**
     * @generated from field: string error = 9;
     */
    error: string;
    /**
     * @generated from field: repeated evershard.v1.TableInfo.Figure figures = 10;
     */
    figures: TableInfo_Figure[];
};
/**
 * Describes the message evershard.v1.TableInfo.
 * Use `create(TableInfoSchema)` to create a new message.
 */
export declare const TableInfoSchema: GenMessage<TableInfo>;
/**
 * @generated from message evershard.v1.TableInfo.Figure
 */
export type TableInfo_Figure = Message<"evershard.v1.TableInfo.Figure"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * @generated from field: uint64 value = 2;
     */
    value: bigint;
};
/**
 * Describes the message evershard.v1.TableInfo.Figure.
 * Use `create(TableInfo_FigureSchema)` to create a new message.
 */
export declare const TableInfo_FigureSchema: GenMessage<TableInfo_Figure>;
/**
 * @generated from message evershard.v1.ListTablesRequest
 */
export type ListTablesRequest = Message<"evershard.v1.ListTablesRequest"> & {};
/**
 * Describes the message evershard.v1.ListTablesRequest.
 * Use `create(ListTablesRequestSchema)` to create a new message.
 */
export declare const ListTablesRequestSchema: GenMessage<ListTablesRequest>;
/**
 * @generated from message evershard.v1.ListTablesResponse
 */
export type ListTablesResponse = Message<"evershard.v1.ListTablesResponse"> & {
    /**
     * @generated from field: repeated evershard.v1.TableInfo tables = 1;
     */
    tables: TableInfo[];
};
/**
 * Describes the message evershard.v1.ListTablesResponse.
 * Use `create(ListTablesResponseSchema)` to create a new message.
 */
export declare const ListTablesResponseSchema: GenMessage<ListTablesResponse>;
/**
 * @generated from message evershard.v1.ListParkedRowsRequest
 */
export type ListParkedRowsRequest = Message<"evershard.v1.ListParkedRowsRequest"> & {
    /**
     * @generated from field: string table = 1;
     */
    table: string;
    /**
     * a position
     *
     * @generated from field: uint64 after = 2;
     */
    after: bigint;
    /**
     * 0: 1,000
     *
     * @generated from field: uint32 limit = 3;
     */
    limit: number;
};
/**
 * Describes the message evershard.v1.ListParkedRowsRequest.
 * Use `create(ListParkedRowsRequestSchema)` to create a new message.
 */
export declare const ListParkedRowsRequestSchema: GenMessage<ListParkedRowsRequest>;
/**
 * @generated from message evershard.v1.ParkedRow
 */
export type ParkedRow = Message<"evershard.v1.ParkedRow"> & {
    /**
     * @generated from field: uint64 position = 1;
     */
    position: bigint;
    /**
     * @generated from field: string kind = 2;
     */
    kind: string;
    /**
     * @generated from field: string type = 3;
     */
    type: string;
    /**
     * @generated from field: string aggregate = 4;
     */
    aggregate: string;
    /**
     * @generated from field: string reason = 5;
     */
    reason: string;
    /**
     * @generated from field: uint64 attempts = 6;
     */
    attempts: bigint;
    /**
     * of a table in parts: which has it
     *
     * @generated from field: optional uint32 part = 7;
     */
    part?: number | undefined;
};
/**
 * Describes the message evershard.v1.ParkedRow.
 * Use `create(ParkedRowSchema)` to create a new message.
 */
export declare const ParkedRowSchema: GenMessage<ParkedRow>;
/**
 * @generated from message evershard.v1.ListParkedRowsResponse
 */
export type ListParkedRowsResponse = Message<"evershard.v1.ListParkedRowsResponse"> & {
    /**
     * @generated from field: repeated evershard.v1.ParkedRow parked = 1;
     */
    parked: ParkedRow[];
};
/**
 * Describes the message evershard.v1.ListParkedRowsResponse.
 * Use `create(ListParkedRowsResponseSchema)` to create a new message.
 */
export declare const ListParkedRowsResponseSchema: GenMessage<ListParkedRowsResponse>;
/**
 * @generated from message evershard.v1.SettleParkedRowsRequest
 */
export type SettleParkedRowsRequest = Message<"evershard.v1.SettleParkedRowsRequest"> & {
    /**
     * @generated from field: string table = 1;
     */
    table: string;
    /**
     * at least one
     *
     * @generated from field: repeated uint64 positions = 2;
     */
    positions: bigint[];
    /**
     * else they are tried again
     *
     * @generated from field: bool discard = 3;
     */
    discard: boolean;
};
/**
 * Describes the message evershard.v1.SettleParkedRowsRequest.
 * Use `create(SettleParkedRowsRequestSchema)` to create a new message.
 */
export declare const SettleParkedRowsRequestSchema: GenMessage<SettleParkedRowsRequest>;
/**
 * @generated from message evershard.v1.SettleParkedRowsResponse
 */
export type SettleParkedRowsResponse = Message<"evershard.v1.SettleParkedRowsResponse"> & {
    /**
     * once the table has passed it, it is done
     *
     * @generated from field: uint64 position = 1;
     */
    position: bigint;
};
/**
 * Describes the message evershard.v1.SettleParkedRowsResponse.
 * Use `create(SettleParkedRowsResponseSchema)` to create a new message.
 */
export declare const SettleParkedRowsResponseSchema: GenMessage<SettleParkedRowsResponse>;
/**
 * @generated from service evershard.v1.Tables
 */
export declare const Tables: GenService<{
    /**
     * @generated from rpc evershard.v1.Tables.Select
     */
    select: {
        methodKind: "unary";
        input: typeof SelectRequestSchema;
        output: typeof SelectResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.Tables.Explain
     */
    explain: {
        methodKind: "unary";
        input: typeof ExplainRequestSchema;
        output: typeof ExplainResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.Tables.DescribeTable
     */
    describeTable: {
        methodKind: "unary";
        input: typeof DescribeTableRequestSchema;
        output: typeof TableInfoSchema;
    };
    /**
     * @generated from rpc evershard.v1.Tables.ListTables
     */
    listTables: {
        methodKind: "unary";
        input: typeof ListTablesRequestSchema;
        output: typeof ListTablesResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.Tables.ListParkedRows
     */
    listParkedRows: {
        methodKind: "unary";
        input: typeof ListParkedRowsRequestSchema;
        output: typeof ListParkedRowsResponseSchema;
    };
    /**
     * Settling what is parked is an event of the projection's own, and needs the scope `admin`.
     *
     * @generated from rpc evershard.v1.Tables.SettleParkedRows
     */
    settleParkedRows: {
        methodKind: "unary";
        input: typeof SettleParkedRowsRequestSchema;
        output: typeof SettleParkedRowsResponseSchema;
    };
}>;
