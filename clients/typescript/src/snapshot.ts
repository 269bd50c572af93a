// Snapshots, as the store gives them back.

import { Stored } from "./event.js";
import type { RecordedSnapshot as Message } from "./gen/evershard/v1/store_pb.js";
import { aggregateText, toNumber } from "./ids.js";
import { timestampText } from "./timestamp.js";

export class RecordedSnapshot extends Stored {
  readonly aggregate: string;
  readonly version: number;
  /** Of the event that made the version. */
  readonly position: number;
  readonly payload: Uint8Array;
  readonly payloadFormat: number;
  readonly schemaRevision: number;
  /** UTC with microseconds. */
  readonly takenAt: string;
  readonly expiresAt: string | undefined;
  readonly latest: boolean;
  /** Of a sealed payload: whose data it is; else empty. */
  readonly subject: string;

  constructor(message: Message) {
    super();
    this.aggregate = aggregateText(message.aggregate!);
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
