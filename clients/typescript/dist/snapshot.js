// Snapshots, as the store gives them back.
import { Stored } from "./event.js";
import { aggregateText, toNumber } from "./ids.js";
import { timestampText } from "./timestamp.js";
export class RecordedSnapshot extends Stored {
    aggregate;
    version;
    /** Of the event that made the version. */
    position;
    payload;
    payloadFormat;
    schemaRevision;
    /** UTC with microseconds. */
    takenAt;
    expiresAt;
    latest;
    /** Of a sealed payload: whose data it is; else empty. */
    subject;
    constructor(message) {
        super();
        this.aggregate = aggregateText(message.aggregate);
        this.version = toNumber(message.version);
        this.position = toNumber(message.position);
        this.payload = message.payload.slice();
        this.payloadFormat = message.payloadFormat;
        this.schemaRevision = message.schemaRevision;
        this.takenAt = timestampText(message.takenAtUs);
        this.expiresAt = message.expiresAtUs === undefined ? undefined : timestampText(message.expiresAtUs);
        this.latest = message.latest;
        this.subject = message.subject;
    }
}
