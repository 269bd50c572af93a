// What is derived from events and read by key: indexes, tables, documents. See docs/projections.md, docs/documents.md.

import type { MessageInitShape } from "@bufbuild/protobuf";

import type { AtLeast, CallOptions, Connection } from "./connection.js";
import { EvershardError, InvalidArgumentError, UnavailableError } from "./errors.js";
import { RecordedEvent, type JsonValue } from "./event.js";
import { Documents as DocumentsService, type Document as DocumentMessage } from "./gen/evershard/v1/documents_pb.js";
import type { RecordedEvent as RecordedEventMessage } from "./gen/evershard/v1/event_pb.js";
import {
  AskProjectionRequest_Ask as Ask,
  Projections as ProjectionsService,
  type ProjectionInfo as ProjectionInfoMessage,
} from "./gen/evershard/v1/projections_pb.js";
import {
  Tables as TablesService,
  type SelectResponse,
  type TableValue,
  type TableValueSchema,
} from "./gen/evershard/v1/tables_pb.js";
import { aggregateText, splitAggregate, textOf, toNumber, toUint64 } from "./ids.js";
import type { Query } from "./query.js";
import { timestampText } from "./timestamp.js";

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

export interface IfAbsent {
  /** One of that name and the same definition is given as it is; else AlreadyExistsError. */
  ifAbsent?: boolean | undefined;
}

/** Of a client. Reads wait for what the client has seen; with `atLeast: 0` they take what is there, also of a projection that stands. */
export class Projections {
  readonly #connection: Connection;
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The matches of a query by number. Its name follows from the query: the same query asked twice shares one index. Needs the scope `admin`. */
  async createIndex(query: Query, options?: CallOptions): Promise<ProjectionInfo> {
    return projectionOf(
      await this.#connection.unary(ProjectionsService.method.createIndex, { query: query.message() }, options),
    );
  }
  /** Events by a value in them. `path`: `$.customer.city`; `value`: text, integer, number, boolean, time. Needs the scope `admin`. */
  async createValueIndex(
    name: string,
    index: { types: readonly string[]; path: string; value?: string; source?: "payload" | "metadata" },
    options: IfAbsent & CallOptions = {},
  ): Promise<ProjectionInfo> {
    const { types, path, value = "text", source = "payload" } = index;
    return projectionOf(
      await this.#connection.change(
        ProjectionsService.method.createValueIndex,
        {
          name: textOf(name, "name"),
          types: [...types],
          path: textOf(path, "path"),
          value,
          source,
          ifAbsent: options.ifAbsent ?? false,
        },
        options,
      ),
    );
  }
  /** `definition`: docs/tables.md, "Write a definition". Needs the scope `admin`. */
  async createTable(name: string, definition: object, options: IfAbsent & CallOptions = {}): Promise<ProjectionInfo> {
    return projectionOf(
      await this.#connection.change(
        ProjectionsService.method.createProjection,
        {
          name: textOf(name, "name"),
          kind: "table",
          spec: JSON.stringify(definition),
          ifAbsent: options.ifAbsent ?? false,
        },
        options,
      ),
    );
  }
  /** Errors: NotFoundError */
  async describe(name: string, options?: CallOptions): Promise<ProjectionInfo> {
    return projectionOf(
      await this.#connection.unary(
        ProjectionsService.method.describeProjection,
        { name: textOf(name, "name") },
        options,
      ),
    );
  }
  /** In order of name. */
  async list(options?: CallOptions): Promise<ProjectionInfo[]> {
    return (await this.#connection.unary(ProjectionsService.method.listProjections, {}, options)).projections.map(
      projectionOf,
    );
  }
  /** Definition and rows. Needs the scope `admin`. */
  async drop(name: string, options?: CallOptions): Promise<void> {
    await this.#connection.change(
      ProjectionsService.method.askProjection,
      { name: textOf(name, "name"), ask: Ask.DROP },
      options,
    );
  }

  /** A page. Errors: NotFoundError, UnavailableError (it stands before what was seen), TimeoutError */
  async readIndex(name: string, options: ReadIndexOptions = {}): Promise<IndexPage> {
    const { start, limit = 100, backwards = false, events = false } = options;
    const page = await this.#connection.unary(
      ProjectionsService.method.readIndex,
      {
        name: textOf(name, "name"),
        limit: small(limit),
        backwards,
        events,
        ...(start !== undefined && { start: toUint64(start, "start") }),
      },
      options,
    );
    return {
      entries: page.entries.map(({ number, position, event }) => ({
        number: toNumber(number),
        position: toNumber(position),
        ...eventOf(event),
      })),
      count: toNumber(page.count),
      watermark: toNumber(page.watermark),
    };
  }
  /** A page of a value index. Errors: as of readIndex; InvalidArgumentError */
  async readValues(name: string, options: ReadValuesOptions = {}): Promise<ValuePage> {
    const { equal, from, to, until, after = "", limit = 100, backwards = false, events = false } = options;
    const page = await this.#connection.unary(
      ProjectionsService.method.readValues,
      {
        name: textOf(name, "name"),
        after,
        limit: small(limit),
        backwards,
        events,
        ...(equal !== undefined && { equal: written(equal) }),
        ...(from !== undefined && { from: written(from) }),
        ...(to !== undefined && { to: written(to) }),
        ...(until !== undefined && { until: written(until) }),
      },
      options,
    );
    return {
      entries: page.entries.map(({ value, position, event }) => ({
        value: valueOf(value),
        position: toNumber(position),
        ...eventOf(event),
      })),
      next: page.next,
      watermark: toNumber(page.watermark),
    };
  }

  /** A page of a table's rows, of one moment. Errors: NotFoundError, InvalidArgumentError, UnavailableError, TimeoutError */
  async selectPage(
    table: string,
    options: SelectOptions & { continueFrom?: string | undefined } = {},
  ): Promise<TablePage> {
    const { where = "", parameters = {}, fields = [], order = [], limit, version, continueFrom = "" } = options;
    return pageOf(
      await this.#connection.unary(
        TablesService.method.select,
        {
          table: textOf(table, "table"),
          select: {
            where: textOf(where, "where"),
            fields: [...fields],
            continueFrom,
            ...(limit !== undefined && { limit: toUint64(limit, "limit") }),
            parameters: Object.fromEntries(
              Object.entries(parameters).map(([name, value]) => [name, tableValue(value)]),
            ),
            orderBy: order.map((one) => ({ field: one.replace(/^-/, ""), descending: one.startsWith("-") })),
          },
          ...(version !== undefined && { version: toUint64(version, "version") }),
        },
        options,
      ),
    );
  }
  /** Rows that match, fetched as they are taken. */
  async *select(table: string, options: SelectOptions = {}): AsyncGenerator<Row, void, void> {
    let left = options.limit ?? Infinity;
    for (let continueFrom = ""; left > 0; ) {
      const page = await this.selectPage(table, { ...options, limit: Math.min(left, 1_000), continueFrom });
      yield* page.rows;
      left -= page.rows.length;
      continueFrom = page.next;
      if (!continueFrom) return;
    }
  }
}

/** Of a client. */
export class Documents {
  readonly #connection: Connection;
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** What the documents of a type are made by: docs/documents.md, "Write a definition". Returns: its version. The same again is no change, but with `rebuild`: its documents are made again of what is left. Needs the scope `admin`. */
  async define(
    type: string,
    definition: object,
    options: { expected?: number | undefined; rebuild?: boolean | undefined } & CallOptions = {},
  ): Promise<number> {
    const { expected } = options;
    const request = {
      type: textOf(type, "type"),
      spec: new TextEncoder().encode(JSON.stringify(definition)),
      ...(expected !== undefined && { expected: toUint64(expected, "expected") }),
      rebuild: options.rebuild ?? false,
    };
    return toNumber((await this.#connection.change(DocumentsService.method.define, request, options)).version);
  }
  /** How far the documents of a type are. Errors: NotFoundError */
  async describe(type: string, options: CallOptions = {}): Promise<ProjectionInfo> {
    return projectionOf(
      await this.#connection.unary(DocumentsService.method.describe, { type: textOf(type, "type") }, options),
    );
  }
  async drop(type: string, options?: CallOptions): Promise<void> {
    await this.#connection.change(DocumentsService.method.drop, { type: textOf(type, "type") }, options);
  }
  /** Behind everything that is ordered for the aggregate; `eventual`: as the rows have it. Errors: NotFoundError */
  async get(
    aggregate: string,
    options: { eventual?: boolean | undefined } & AtLeast & CallOptions = {},
  ): Promise<Document> {
    return documentOf(
      await this.#connection.unary(
        DocumentsService.method.get,
        { aggregate: splitAggregate(aggregate), eventual: options.eventual ?? false },
        options,
      ),
    );
  }
  /** Those of a type, in order of value, fetched as they are taken, all by one version of the definition. Errors: NotFoundError (also when that version is read no more), InvalidArgumentError, TimeoutError */
  async *list(type: string, options: DocumentsOptions = {}): AsyncGenerator<Document, void, void> {
    const { filter } = options;
    let left = options.limit ?? Infinity;
    let definition = options.definition === undefined ? undefined : toUint64(options.definition, "definition");
    for (let after = options.after === undefined ? undefined : new TextEncoder().encode(options.after); left > 0; ) {
      const page = await this.#connection.unary(
        DocumentsService.method.list,
        {
          type: textOf(type, "type"),
          limit: Math.min(left, 1_000),
          ...(after && { after }),
          ...(filter !== undefined && { filter: textOf(filter, "filter") }),
          ...(definition !== undefined && { definition }),
        },
        options,
      );
      definition = page.definition || definition;
      for (const document of page.documents) yield documentOf(document);
      left -= page.documents.length;
      after = page.next;
      if (!after) return;
    }
  }
}

const bytes = 6,
  json = 7; // TableField.type

const states = ["live", "building", "paused", "waiting", "failed"];

function projectionOf(info: ProjectionInfoMessage): ProjectionInfo {
  const read = [...info.versions].reverse().find(({ serving }) => serving) ?? info.versions.at(-1);
  // Of a table in parts: the state that most wants to be looked at, and the least position.
  const parts = info.versions.filter(({ part, rows }) => part !== undefined && rows === read?.rows);
  const worst = parts.reduce<typeof read>(
    (a, b) => (a === undefined || states.indexOf(b.state) > states.indexOf(a.state) ? b : a),
    parts[0] ?? read,
  );
  const position = parts.reduce((least, one) => (one.position < least ? one.position : least), worst?.position ?? 0n);
  return {
    name: info.name,
    kind: info.kind,
    spec: parsed(info.spec) as JsonValue,
    last: toNumber(info.last),
    paused: info.paused,
    watermark: toNumber(info.watermark),
    state: worst?.state ?? "waiting",
    position: toNumber(position),
    ...(worst?.error && { error: worst.error.message }),
  };
}

function pageOf({ fields, types, rows, next, position }: SelectResponse): TablePage {
  if (types.length !== fields.length || rows.some(({ values }) => values.length !== fields.length))
    throw new UnavailableError("a row has not a value a field");
  return {
    rows: rows.map(({ values }) => Object.fromEntries(fields.map((name, i) => [name, cellOf(values[i]!, types[i]!)]))),
    next,
    position: toNumber(position),
  };
}

function cellOf({ value }: TableValue, type: number): Cell {
  switch (value.case) {
    case undefined:
      return null;
    case "integer":
      return Number.isSafeInteger(Number(value.value)) ? Number(value.value) : value.value;
    case "timeUs":
      return timestampText(value.value);
    case "string":
      return type === bytes ? value.value : type === json ? (parsed(value.value) as JsonValue) : decoded(value.value);
    default:
      return value.value;
  }
}

function tableValue(value: Parameter): MessageInitShape<typeof TableValueSchema> {
  switch (typeof value) {
    case "boolean":
      return { value: { case: "boolean", value } };
    case "bigint":
      return { value: { case: "integer", value } };
    case "number":
      return Number.isSafeInteger(value)
        ? { value: { case: "integer", value: BigInt(value) } }
        : { value: { case: "number", value } };
    case "string":
      return { value: { case: "string", value: new TextEncoder().encode(value) } };
    default:
      if (value === null) return {};
      if (value instanceof Date) return { value: { case: "timeUs", value: BigInt(value.getTime()) * 1_000n } };
      if (value instanceof Uint8Array) return { value: { case: "string", value } };
      throw new InvalidArgumentError(`${String(value)} is no value of a table`);
  }
}

function documentOf({
  aggregate,
  json: content,
  version,
  position,
  problems,
  lastProblem,
  definition,
}: DocumentMessage): Document {
  return {
    aggregate: aggregateText(aggregate!),
    content: parsed(content) as Record<string, JsonValue>,
    version: toNumber(version),
    position: toNumber(position),
    problems: toNumber(problems),
    lastProblem,
    definition: toNumber(definition),
  };
}

function eventOf(event: RecordedEventMessage | undefined): { event?: RecordedEvent } {
  return event ? { event: new RecordedEvent(event) } : {};
}
function written(value: string | number | bigint | boolean | Date): string {
  return value instanceof Date ? value.toISOString() : String(value);
}
function decoded(value: Uint8Array): string {
  return new TextDecoder().decode(value);
}

/** JSON.parse rounds what is beyond 2^53. */
function valueOf(text: string): JsonValue | bigint {
  const value = parsed(text) as JsonValue;
  return typeof value === "number" && /^-?\d+$/.test(text) && !Number.isSafeInteger(value) ? BigInt(text) : value;
}

function parsed(value: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof value === "string" ? value : decoded(value));
  } catch (error) {
    if (error instanceof EvershardError) throw error;
    throw new UnavailableError(`what should be JSON is none: ${String(error)}`);
  }
}

function small(limit: number): number {
  if (!Number.isInteger(limit) || limit < 0 || limit > 0xffff_ffff)
    throw new InvalidArgumentError(`limit: ${limit} is no number of entries`);
  return limit;
}
