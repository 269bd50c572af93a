// What is derived from events and read by key: indexes, tables, documents. See docs/projections.md, docs/documents.md.
import { EvershardError, InvalidArgumentError, UnavailableError } from "./errors.js";
import { RecordedEvent } from "./event.js";
import { Documents as DocumentsService } from "./gen/evershard/v1/documents_pb.js";
import { AskProjectionRequest_Ask as Ask, Projections as ProjectionsService } from "./gen/evershard/v1/projections_pb.js";
import { Tables as TablesService } from "./gen/evershard/v1/tables_pb.js";
import { aggregateText, splitAggregate, textOf, toNumber, toUint64 } from "./ids.js";
import { timestampText } from "./timestamp.js";
/** Of a client. Reads wait for what the client has seen; with `atLeast: 0` they take what is there, also of a projection that stands. */
export class Projections {
    #connection;
    constructor(connection) { this.#connection = connection; }
    /** The matches of a query by number. Its name follows from the query: the same query asked twice shares one index. Needs the scope `admin`. */
    async createIndex(query, options) {
        return projectionOf(await this.#connection.unary(ProjectionsService.method.createIndex, { query: query.message() }, options));
    }
    /** Events by a value in them. `path`: `$.customer.city`; `value`: text, integer, number, boolean, time. Needs the scope `admin`. */
    async createValueIndex(name, index, options) {
        const { types, path, value = "text", source = "payload" } = index;
        return projectionOf(await this.#connection.change(ProjectionsService.method.createValueIndex, { name: textOf(name, "name"), types: [...types], path: textOf(path, "path"), value, source }, options));
    }
    /** `definition`: docs/tables.md, "Write a definition". Needs the scope `admin`. */
    async createTable(name, definition, options) {
        return projectionOf(await this.#connection.change(ProjectionsService.method.createProjection, { name: textOf(name, "name"), kind: "table", spec: JSON.stringify(definition) }, options));
    }
    /** Errors: NotFoundError */
    async describe(name, options) {
        return projectionOf(await this.#connection.unary(ProjectionsService.method.describeProjection, { name: textOf(name, "name") }, options));
    }
    /** In order of name. */
    async list(options) {
        return (await this.#connection.unary(ProjectionsService.method.listProjections, {}, options)).projections.map(projectionOf);
    }
    /** Definition and rows. Needs the scope `admin`. */
    async drop(name, options) {
        await this.#connection.change(ProjectionsService.method.askProjection, { name: textOf(name, "name"), ask: Ask.DROP }, options);
    }
    /** A page. Errors: NotFoundError, UnavailableError (it stands before what was seen), TimeoutError */
    async readIndex(name, options = {}) {
        const { start, limit = 100, backwards = false, events = false } = options;
        const page = await this.#connection.unary(ProjectionsService.method.readIndex, {
            name: textOf(name, "name"), limit: small(limit), backwards, events, ...(start !== undefined && { start: toUint64(start, "start") }),
        }, options);
        return {
            entries: page.entries.map(({ number, position, event }) => ({ number: toNumber(number), position: toNumber(position), ...eventOf(event) })),
            count: toNumber(page.count), watermark: toNumber(page.watermark),
        };
    }
    /** A page of a value index. Errors: as of readIndex; InvalidArgumentError */
    async readValues(name, options = {}) {
        const { equal, from, to, until, after = "", limit = 100, backwards = false, events = false } = options;
        const page = await this.#connection.unary(ProjectionsService.method.readValues, {
            name: textOf(name, "name"), after, limit: small(limit), backwards, events,
            ...(equal !== undefined && { equal: written(equal) }), ...(from !== undefined && { from: written(from) }),
            ...(to !== undefined && { to: written(to) }), ...(until !== undefined && { until: written(until) }),
        }, options);
        return {
            entries: page.entries.map(({ value, position, event }) => ({ value: valueOf(value), position: toNumber(position), ...eventOf(event) })),
            next: page.next, watermark: toNumber(page.watermark),
        };
    }
    /** A page of a table's rows, of one moment. Errors: NotFoundError, InvalidArgumentError, UnavailableError, TimeoutError */
    async selectPage(table, options = {}) {
        const { where = "", parameters = {}, fields = [], order = [], limit, version, continueFrom = "" } = options;
        return pageOf(await this.#connection.unary(TablesService.method.select, {
            table: textOf(table, "table"),
            select: {
                where: textOf(where, "where"), fields: [...fields], continueFrom, ...(limit !== undefined && { limit: toUint64(limit, "limit") }),
                parameters: Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, tableValue(value)])),
                orderBy: order.map((one) => ({ field: one.replace(/^-/, ""), descending: one.startsWith("-") })),
            },
            ...(version !== undefined && { version: toUint64(version, "version") }),
        }, options));
    }
    /** Rows that match, fetched as they are taken. */
    async *select(table, options = {}) {
        let left = options.limit ?? Infinity;
        for (let continueFrom = ""; left > 0;) {
            const page = await this.selectPage(table, { ...options, limit: Math.min(left, 1_000), continueFrom });
            yield* page.rows;
            left -= page.rows.length;
            continueFrom = page.next;
            if (!continueFrom)
                return;
        }
    }
}
/** Of a client. */
export class Documents {
    #connection;
    constructor(connection) { this.#connection = connection; }
    /** What the documents of a type are made by: docs/documents.md, "Write a definition". Returns: its version. The same again is no change, but with `rebuild`: its documents are made again of what is left. Needs the scope `admin`. */
    async define(type, definition, options = {}) {
        const { expected } = options;
        const request = { type: textOf(type, "type"), spec: new TextEncoder().encode(JSON.stringify(definition)), ...(expected !== undefined && { expected: toUint64(expected, "expected") }), rebuild: options.rebuild ?? false };
        return toNumber((await this.#connection.change(DocumentsService.method.define, request, options)).version);
    }
    /** How far the documents of a type are. Errors: NotFoundError */
    async describe(type, options = {}) {
        return projectionOf(await this.#connection.unary(DocumentsService.method.describe, { type: textOf(type, "type") }, options));
    }
    async drop(type, options) {
        await this.#connection.change(DocumentsService.method.drop, { type: textOf(type, "type") }, options);
    }
    /** Behind everything that is ordered for the aggregate; `eventual`: as the rows have it. Errors: NotFoundError */
    async get(aggregate, options = {}) {
        return documentOf(await this.#connection.unary(DocumentsService.method.get, { aggregate: splitAggregate(aggregate), eventual: options.eventual ?? false }, options));
    }
    /** Those of a type, in order of value, fetched as they are taken, all by one version of the definition. Errors: NotFoundError (also when that version is read no more), InvalidArgumentError, TimeoutError */
    async *list(type, options = {}) {
        const { filter } = options;
        let left = options.limit ?? Infinity;
        let definition = options.definition === undefined ? undefined : toUint64(options.definition, "definition");
        for (let after = options.after === undefined ? undefined : new TextEncoder().encode(options.after); left > 0;) {
            const page = await this.#connection.unary(DocumentsService.method.list, {
                type: textOf(type, "type"), limit: Math.min(left, 1_000), ...(after && { after }), ...(filter !== undefined && { filter: textOf(filter, "filter") }), ...(definition !== undefined && { definition }),
            }, options);
            definition = page.definition || definition;
            for (const document of page.documents)
                yield documentOf(document);
            left -= page.documents.length;
            after = page.next;
            if (!after)
                return;
        }
    }
}
const bytes = 6, json = 7; // TableField.type
const states = ["live", "building", "paused", "waiting", "failed"];
function projectionOf(info) {
    const read = [...info.versions].reverse().find(({ serving }) => serving) ?? info.versions.at(-1);
    // Of a table in parts: the state that most wants to be looked at, and the least position.
    const parts = info.versions.filter(({ part, rows }) => part !== undefined && rows === read?.rows);
    const worst = parts.reduce((a, b) => (a === undefined || states.indexOf(b.state) > states.indexOf(a.state) ? b : a), parts[0] ?? read);
    const position = parts.reduce((least, one) => (one.position < least ? one.position : least), worst?.position ?? 0n);
    return {
        name: info.name, kind: info.kind, spec: parsed(info.spec), last: toNumber(info.last), paused: info.paused, watermark: toNumber(info.watermark),
        state: worst?.state ?? "waiting", position: toNumber(position), ...(worst?.error && { error: worst.error.message }),
    };
}
function pageOf({ fields, types, rows, next, position }) {
    if (types.length !== fields.length || rows.some(({ values }) => values.length !== fields.length))
        throw new UnavailableError("a row has not a value a field");
    return { rows: rows.map(({ values }) => Object.fromEntries(fields.map((name, i) => [name, cellOf(values[i], types[i])]))), next, position: toNumber(position) };
}
function cellOf({ value }, type) {
    switch (value.case) {
        case undefined: return null;
        case "integer": return Number.isSafeInteger(Number(value.value)) ? Number(value.value) : value.value;
        case "timeUs": return timestampText(value.value);
        case "string": return type === bytes ? value.value : type === json ? parsed(value.value) : decoded(value.value);
        default: return value.value;
    }
}
function tableValue(value) {
    switch (typeof value) {
        case "boolean": return { value: { case: "boolean", value } };
        case "bigint": return { value: { case: "integer", value } };
        case "number": return Number.isSafeInteger(value) ? { value: { case: "integer", value: BigInt(value) } } : { value: { case: "number", value } };
        case "string": return { value: { case: "string", value: new TextEncoder().encode(value) } };
        default:
            if (value === null)
                return {};
            if (value instanceof Date)
                return { value: { case: "timeUs", value: BigInt(value.getTime()) * 1000n } };
            if (value instanceof Uint8Array)
                return { value: { case: "string", value } };
            throw new InvalidArgumentError(`${String(value)} is no value of a table`);
    }
}
function documentOf({ aggregate, json: content, version, position, problems, lastProblem, definition }) {
    return {
        aggregate: aggregateText(aggregate), content: parsed(content), version: toNumber(version), position: toNumber(position),
        problems: toNumber(problems), lastProblem, definition: toNumber(definition),
    };
}
function eventOf(event) { return event ? { event: new RecordedEvent(event) } : {}; }
function written(value) { return value instanceof Date ? value.toISOString() : String(value); }
function decoded(value) { return new TextDecoder().decode(value); }
/** JSON.parse rounds what is beyond 2^53. */
function valueOf(text) {
    const value = parsed(text);
    return typeof value === "number" && /^-?\d+$/.test(text) && !Number.isSafeInteger(value) ? BigInt(text) : value;
}
function parsed(value) {
    try {
        return JSON.parse(typeof value === "string" ? value : decoded(value));
    }
    catch (error) {
        if (error instanceof EvershardError)
            throw error;
        throw new UnavailableError(`what should be JSON is none: ${String(error)}`);
    }
}
function small(limit) {
    if (!Number.isInteger(limit) || limit < 0 || limit > 0xffff_ffff)
        throw new InvalidArgumentError(`limit: ${limit} is no number of entries`);
    return limit;
}
