// Append: what is to be written whole or not at all, and what acknowledges it.
import { encode } from "./connection.js";
import { InvalidArgumentError } from "./errors.js";
import { encodePayload, eventMessage } from "./event.js";
import { Ack, AppendRequestSchema, ExpectedVersion_Kind } from "./gen/evershard/v1/store_pb.js";
import { aggregateText, newId, splitAggregate, textOf, toNumber, toUint64, uuidBytes } from "./ids.js";
/** The bytes of an append: the same for each try; and what its shard follows from, where that is known here. Errors: InvalidArgumentError, TooLargeError */
export function encodeAppend(append) {
    const events = [...append.events];
    const conditions = append.failIf === undefined ? [] : "query" in append.failIf ? [append.failIf] : [...append.failIf];
    const named = append.requestId !== undefined;
    const messages = events.map((event, i) => eventMessage(event, named ? "" : newId(), `events[${i}]`));
    const bytes = encode(AppendRequestSchema, {
        ...(named && { requestId: uuidBytes(append.requestId, "requestId") }),
        events: messages,
        expectations: Object.entries(append.expect ?? {}).map(([aggregate, version]) => ({ aggregate: splitAggregate(aggregate), version: expectation(version, aggregate) })),
        conditions: conditions.map(({ query, after = 0 }, i) => ({ query: query.message(), after: toUint64(after, `failIf[${i}].after`) })),
        snapshots: [...(append.snapshots ?? [])].map((snapshot, i) => snapshotMessage(snapshot, `snapshots[${i}]`)),
        ...(append.command && {
            command: {
                aggregate: splitAggregate(append.command.aggregate),
                id: typeof append.command.id === "string" ? new TextEncoder().encode(append.command.id) : append.command.id,
                ...(append.command.reply && { reply: append.command.reply }),
            },
        }),
        ack: append.ack === "durable" ? Ack.DURABLE : Ack.ORDERED,
        conflictsMax: append.conflictsMax ?? 0,
    });
    const id = messages[0]?.id;
    return { bytes, first: events[0]?.aggregate ?? (id?.length === 16 ? id : undefined) };
}
function expectation(version, aggregate) {
    switch (version) {
        case "any": return { kind: ExpectedVersion_Kind.ANY };
        case "none": return { kind: ExpectedVersion_Kind.NONE };
        case "exists": return { kind: ExpectedVersion_Kind.EXISTS };
    }
    if (typeof version !== "number")
        throw new InvalidArgumentError(`expect["${aggregate}"]: ${JSON.stringify(version)} is none of any, none, exists and a number`);
    return { kind: ExpectedVersion_Kind.EXACTLY, number: toUint64(version, `expect["${aggregate}"]`) };
}
export function snapshotMessage(snapshot, what) {
    const payload = encodePayload(snapshot.payload, `${what}.payload`);
    return {
        aggregate: splitAggregate(snapshot.aggregate),
        version: toUint64(snapshot.version ?? 0, `${what}.version`),
        payload: payload.bytes,
        payloadFormat: snapshot.payloadFormat ?? payload.format,
        schemaRevision: snapshot.schemaRevision ?? 0,
        ...(snapshot.keep !== undefined && { keep: snapshot.keep }),
        ...(snapshot.ttlS !== undefined && { ttlS: toUint64(snapshot.ttlS, `${what}.ttlS`) }),
        ...(snapshot.subject !== undefined && { subject: textOf(snapshot.subject, `${what}.subject`) }),
    };
}
export function appendedOf(response) {
    return {
        firstPosition: toNumber(response.firstPosition),
        lastPosition: toNumber(response.lastPosition),
        versions: Object.fromEntries(response.versions.map(({ aggregate, version }) => [aggregateText(aggregate), toNumber(version)])),
        duplicate: response.duplicate,
        watermark: toNumber(response.watermark),
    };
}
