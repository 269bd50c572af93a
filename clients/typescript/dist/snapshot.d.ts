import { Stored } from "./event.js";
import type { RecordedSnapshot as Message } from "./gen/evershard/v1/store_pb.js";
export declare class RecordedSnapshot extends Stored {
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
    constructor(message: Message);
}
