import type { AtLeast, CallOptions, Connection } from "./connection.js";
import { RecordedEvent, type JsonValue } from "./event.js";
import type { Query } from "./query.js";
/** How a projection is; of the version that is read. */
export interface ProjectionInfo {
    readonly name: string;
    readonly kind: string;
    readonly spec: JsonValue;
    /** What a change expects. */
    readonly last: number;
    readonly paused: boolean;
    readonly watermark: number;
    readonly state: "building" | "live" | "paused" | "failed" | "waiting" | string;
    readonly position: number;
    /** Why it stands. */
    readonly error?: string;
}
export interface IndexEntry {
    readonly number: number;
    readonly position: number;
    readonly event?: RecordedEvent;
}
/** `count`: numbers that the index has; `watermark`: every event up to here is in it. */
export interface IndexPage {
    readonly entries: readonly IndexEntry[];
    readonly count: number;
    readonly watermark: number;
}
/** A whole number beyond 2^53 is a bigint. */
export interface ValueEntry {
    readonly value: JsonValue | bigint;
    readonly position: number;
    readonly event?: RecordedEvent;
}
/** `next`: the next page's `after`; empty: nothing follows. */
export interface ValuePage {
    readonly entries: readonly ValueEntry[];
    readonly next: string;
    readonly watermark: number;
}
/** Whole numbers beyond 2^53 are bigints. Times are text, `2026-01-31T12:00:00.000000Z`. */
export type Cell = null | boolean | number | bigint | string | Uint8Array | JsonValue;
export type Row = Record<string, Cell>;
/** A parameter of a filter: a Date is a time. */
export type Parameter = null | boolean | number | bigint | string | Uint8Array | Date;
/** `next`: what the next page continues from; empty: nothing follows. */
export interface TablePage {
    readonly rows: readonly Row[];
    readonly next: string;
    readonly position: number;
}
/** An aggregate's current state. */
export interface Document {
    readonly aggregate: string;
    /** As JSON.parse makes it: whole numbers beyond 2^53 are rounded. */
    readonly content: Record<string, JsonValue>;
    /** Of the last event that the definition has a rule for. */
    readonly version: number;
    readonly position: number;
    /** Steps that could not be done, and were left out. */
    readonly problems: number;
    readonly lastProblem: string;
    /** The version of the definition that it is made by. */
    readonly definition: number;
}
interface PageOptions extends AtLeast, CallOptions {
    /** 100; at most 1,000 */
    limit?: number | undefined;
    backwards?: boolean | undefined;
    /** With the events themselves. */
    events?: boolean | undefined;
}
export interface ReadIndexOptions extends PageOptions {
    /** A number, from 1; absent: the first, backwards the last. */
    start?: number | undefined;
}
/** Values as they are: 42, true, a text itself, a Date. One value, or a range. */
export interface ReadValuesOptions extends PageOptions {
    equal?: string | number | bigint | boolean | Date | undefined;
    /** Inclusive. */
    from?: string | number | bigint | Date | undefined;
    /** Inclusive. */
    to?: string | number | bigint | Date | undefined;
    /** Exclusive. */
    until?: string | number | bigint | Date | undefined;
    /** `next` of the page before. */
    after?: string | undefined;
}
export interface SelectOptions extends AtLeast, CallOptions {
    /** A filter: docs/tables.md, "Filters". Absent: every row. */
    where?: string | undefined;
    /** `:name` by name, `?1` as "1". */
    parameters?: Record<string, Parameter> | undefined;
    /** Absent: all. */
    fields?: readonly string[] | undefined;
    /** `-total`: descending. */
    order?: readonly string[] | undefined;
    /** Of rows; of a page 1,000 without it, at most 10,000. */
    limit?: number | undefined;
    version?: number | undefined;
}
export interface DocumentsOptions extends AtLeast, CallOptions {
    /** `total >= 10` */
    filter?: string | undefined;
    /** Begins behind this value of an aggregate's id. */
    after?: string | undefined;
    limit?: number | undefined;
    /** By this version of the definition, which is waited for; 0: the newest. Without it: the one that is read. */
    definition?: number | undefined;
}
/** Of a client. Reads wait for what the client has seen; with `atLeast: 0` they take what is there, also of a projection that stands. */
export declare class Projections {
    #private;
    constructor(connection: Connection);
    /** The matches of a query by number. Its name follows from the query: the same query asked twice shares one index. Needs the scope `admin`. */
    createIndex(query: Query, options?: CallOptions): Promise<ProjectionInfo>;
    /** Events by a value in them. `path`: `$.customer.city`; `value`: text, integer, number, boolean, time. Needs the scope `admin`. */
    createValueIndex(name: string, index: {
        types: readonly string[];
        path: string;
        value?: string;
        source?: "payload" | "metadata";
    }, options?: CallOptions): Promise<ProjectionInfo>;
    /** `definition`: docs/tables.md, "Write a definition". Needs the scope `admin`. */
    createTable(name: string, definition: object, options?: CallOptions): Promise<ProjectionInfo>;
    /** Errors: NotFoundError */
    describe(name: string, options?: CallOptions): Promise<ProjectionInfo>;
    /** In order of name. */
    list(options?: CallOptions): Promise<ProjectionInfo[]>;
    /** Definition and rows. Needs the scope `admin`. */
    drop(name: string, options?: CallOptions): Promise<void>;
    /** A page. Errors: NotFoundError, UnavailableError (it stands before what was seen), TimeoutError */
    readIndex(name: string, options?: ReadIndexOptions): Promise<IndexPage>;
    /** A page of a value index. Errors: as of readIndex; InvalidArgumentError */
    readValues(name: string, options?: ReadValuesOptions): Promise<ValuePage>;
    /** A page of a table's rows, of one moment. Errors: NotFoundError, InvalidArgumentError, UnavailableError, TimeoutError */
    selectPage(table: string, options?: SelectOptions & {
        continueFrom?: string | undefined;
    }): Promise<TablePage>;
    /** Rows that match, fetched as they are taken. */
    select(table: string, options?: SelectOptions): AsyncGenerator<Row, void, void>;
}
/** Of a client. */
export declare class Documents {
    #private;
    constructor(connection: Connection);
    /** What the documents of a type are made by: docs/documents.md, "Write a definition". Returns: its version. The same again is no change, but with `rebuild`: its documents are made again of what is left. Needs the scope `admin`. */
    define(type: string, definition: object, options?: {
        expected?: number | undefined;
        rebuild?: boolean | undefined;
    } & CallOptions): Promise<number>;
    /** How far the documents of a type are. Errors: NotFoundError */
    describe(type: string, options?: CallOptions): Promise<ProjectionInfo>;
    drop(type: string, options?: CallOptions): Promise<void>;
    /** Behind everything that is ordered for the aggregate; `eventual`: as the rows have it. Errors: NotFoundError */
    get(aggregate: string, options?: {
        eventual?: boolean | undefined;
    } & AtLeast & CallOptions): Promise<Document>;
    /** Those of a type, in order of value, fetched as they are taken, all by one version of the definition. Errors: NotFoundError (also when that version is read no more), InvalidArgumentError, TimeoutError */
    list(type: string, options?: DocumentsOptions): AsyncGenerator<Document, void, void>;
}
export {};
