// Client: a store behind its door. Every method says what it does in the words of protocol/v1/service.proto.
import { Administration } from "./administration.js";
import { appendedOf, encodeAppend, snapshotMessage } from "./append.js";
import { AppendLanes } from "./append_lanes.js";
import {} from "./append_many.js";
import { Connection } from "./connection.js";
import { Documents, Projections } from "./derived.js";
import { InvalidArgumentError } from "./errors.js";
import { RecordedEvent } from "./event.js";
import { Groups } from "./gen/evershard/v1/groups_pb.js";
import { EventStore } from "./gen/evershard/v1/service_pb.js";
import { groupInfoOf, GroupWorker } from "./groups.js";
import { aggregateText, splitAggregate, textOf, toNumber, toUint64 } from "./ids.js";
import { Query } from "./query.js";
import { Reading } from "./reading.js";
import { Retention } from "./retention.js";
import { RecordedSnapshot } from "./snapshot.js";
import { Subscription } from "./subscription.js";
/**
 * HOST:PORT, or unix:PATH; several nodes of one store as HOST:PORT,HOST:PORT or as a list: it keeps to one that works, the first before the others,
 * and goes on to another when that is gone or cannot. Connects with the first call. Errors: InvalidArgumentError
 */
export function connect(address, options = {}) {
    return new Client(new Connection(address, options));
}
/** Every method may be called at any time, any number at once. To be closed, or taken with `await using`. */
export class Client {
    admin;
    /** Indexes and tables. */
    projections;
    documents;
    /** What is removed for good, and the record of it. */
    retention;
    #connection;
    constructor(connection) {
        this.#connection = connection;
        this.admin = new Administration(connection);
        this.projections = new Projections(connection);
        this.documents = new Documents(connection);
        this.retention = new Retention(connection);
    }
    /** Ends what is under way with CancelledError; subscriptions end as loops do. Any number of times. */
    close() {
        if (!this.#connection.closed)
            this.#connection.close();
    }
    async [Symbol.asyncDispose]() {
        this.close();
    }
    /** The greatest position that any answer told: reads there see all that was written and read by this client. For another client's see(). */
    get seen() { return this.#connection.seen; }
    /** Reads of this client see at least this from now on. */
    see(position) {
        toUint64(position, "seen");
        this.#connection.see(position);
    }
    /**
     * Writes whole or not at all; comes back when it is durable. Tried again, as the same append, until it is answered or time is over.
     * Errors: VersionConflictError, ConditionFailedError, DuplicateEventError, InvalidArgumentError, TooLargeError, OutcomeUnknownError, ...
     */
    async append(append, options) {
        const { bytes, first } = encodeAppend(append);
        return appendedOf(await this.#connection.unary(EventStore.method.append, bytes, options, "append", first));
    }
    /**
     * Many appends in flight, taken from `appends` as there is room; their outcomes in the same order. One that is refused ends nothing; `overloaded`
     * is an outcome too, since trying again would store it behind later ones. Leaving the loop ends it: what was in flight may be stored.
     */
    appendMany(appends, options = {}) {
        return new AppendLanes(this.#connection, options).outcomes(appends);
    }
    /** What matches, in global order. */
    read(query = Query.all, options = {}) {
        return new Reading(this.#connection, { query, options });
    }
    /** One aggregate's events, by number. Empty where there is none. */
    readAggregate(aggregate, options = {}) {
        return new Reading(this.#connection, { aggregate, options });
    }
    /** What matches, and goes on with what is appended, until it is cancelled. */
    subscribe(query = Query.all, options = {}) {
        return new Subscription(this.#connection, query, options, (call) => this.head(call));
    }
    /** The watermark: the last position that can be read. With `atLeast` it waits. */
    async head(options = {}) {
        return toNumber((await this.#connection.unary(EventStore.method.head, {}, options)).watermark);
    }
    /** Errors: NotFoundError */
    async eventAt(position, options = {}) {
        return new RecordedEvent(await this.#connection.unary(EventStore.method.getEvent, { position: toUint64(position, "position") }, options));
    }
    /** Errors: NotFoundError */
    async aggregate(aggregate, options = {}) {
        const { upTo } = options;
        const request = { aggregate: splitAggregate(aggregate), ...(upTo !== undefined && { upTo: toUint64(upTo, "upTo") }) };
        return infoOf(await this.#connection.unary(EventStore.method.getAggregate, request, options));
    }
    /** In order of type and value, fetched as they are taken. */
    async *aggregates(options = {}) {
        const { type, pageAggregatesMax: limit = 1_000 } = options;
        if (!(limit >= 1 && limit <= 10_000))
            throw new InvalidArgumentError(`pageAggregatesMax: ${limit} is not from 1 to 10,000`);
        for (let after = options.after;;) {
            const request = { limit, ...(type !== undefined && { type: textOf(type, "type") }), ...(after !== undefined && { after: splitAggregate(after) }) };
            const { aggregates } = await this.#connection.unary(EventStore.method.listAggregates, request, options);
            for (const info of aggregates)
                yield infoOf(info);
            if (aggregates.length < limit)
                return;
            after = aggregateText(aggregates.at(-1).aggregate);
        }
    }
    /** Errors: NotFoundError, InvalidArgumentError */
    async state(aggregate, options = {}) {
        const { version, upTo, limit } = options;
        const { json } = await this.#connection.unary(EventStore.method.getState, {
            aggregate: splitAggregate(aggregate),
            ...(version !== undefined && { version: toUint64(version, "version") }),
            ...(upTo !== undefined && { upTo: toUint64(upTo, "upTo") }),
            ...(limit !== undefined && { limit: toUint64(limit, "limit") }),
        }, options);
        return JSON.parse(json);
    }
    /** Of a version that exists. Errors: NotFoundError, InvalidArgumentError, ... */
    async putSnapshot(snapshot, options) {
        await this.#connection.unary(EventStore.method.putSnapshot, snapshotMessage(snapshot, "snapshot"), options);
    }
    /** The latest, or the newest at or before a version, or as of a position. Returns: nothing, where there is none */
    async snapshot(aggregate, options = {}) {
        const { atOrBefore, upTo } = options;
        const { snapshot } = await this.#connection.unary(EventStore.method.getSnapshot, {
            aggregate: splitAggregate(aggregate),
            ...(atOrBefore !== undefined && { atOrBefore: toUint64(atOrBefore, "atOrBefore") }),
            ...(upTo !== undefined && { upTo: toUint64(upTo, "upTo") }),
        }, options);
        return snapshot && new RecordedSnapshot(snapshot);
    }
    async snapshots(aggregate, options = {}) {
        const request = { aggregate: splitAggregate(aggregate) };
        return (await this.#connection.unary(EventStore.method.listSnapshots, request, options)).snapshots.map((snapshot) => new RecordedSnapshot(snapshot));
    }
    /** A named subscription that workers share; begins behind `after` (0: with the first event; "now"). Needs the scope `admin`. Errors: InvalidArgumentError */
    async createGroup(name, options = {}) {
        const { query, after = 0, settings } = options;
        return groupInfoOf(await this.#connection.change(Groups.method.createGroup, {
            name: textOf(name, "name"),
            ...(query && { query: query.message() }),
            ...(after === "now" ? { fromNow: true } : { after: toUint64(after, "after") }),
            ...(settings && { settings }),
        }, options));
    }
    async dropGroup(name, options) {
        await this.#connection.change(Groups.method.dropGroup, { name: textOf(name, "name") }, options);
    }
    /** In order of name. */
    async groups(options) {
        return (await this.#connection.unary(Groups.method.listGroups, {}, options)).groups.map(groupInfoOf);
    }
    /** A worker of a group. It joins when it is first asked for an event. */
    work(group, options = {}) {
        return new GroupWorker(this.#connection, textOf(group, "group"), options);
    }
    /** How payloads are read: what `evershard types` registered, as the store's file TYPES has it; empty: nothing. */
    async types(options) {
        return (await this.#connection.unary(EventStore.method.getTypes, {}, options)).types;
    }
}
function infoOf({ aggregate, version, lastPosition, shard }) {
    return { aggregate: aggregateText(aggregate), version: toNumber(version), lastPosition: toNumber(lastPosition), shard };
}
