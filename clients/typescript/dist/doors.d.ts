import { type Client as Channel } from "@grpc/grpc-js";
import { EvershardError } from "./errors.js";
import type { MembersResponse } from "./gen/evershard/v1/service_pb.js";
export interface Door {
    readonly number: number;
    readonly address: string;
    readonly channel: Channel;
}
export interface DoorParts {
    /** Errors: InvalidArgumentError: none that may be used */
    channel(address: string, several: boolean): Channel;
    /** Of this door, until `deadline`. Errors: as calls have them; `status`: gRPC's own */
    members(door: Door, deadline: number): Promise<MembersResponse>;
    followShards: boolean;
}
/** A gRPC status that nobody of the store gave, beside the error it became. */
export declare class CallFailed extends Error {
    readonly status: number;
    readonly error: EvershardError;
    constructor(status: number, error: EvershardError);
}
/**
 * Where there are several addresses, each is asked whose it is before it is used: an append that was sent to one store is never sent again to
 * another.
 */
export declare class Doors {
    #private;
    constructor(addresses: readonly string[], parts: DoorParts);
    close(): void;
    get several(): boolean;
    /** How long one door is waited for to come to a position: another may be there already. */
    waitAtOne(leftMs: number): number;
    /** The door to ask. Errors: UnavailableError: none answers now; InvalidArgumentError: all of them are another store's */
    pick(): Promise<Door>;
    worked(door: Door): void;
    failed(door: Door): void;
    /** The door of the node that decides an append whose first event has this aggregate, or this id without one; where it is open now. */
    home(first: string | Uint8Array): Door | undefined;
    /** The append's shard, and the node that decides it where its door is known; `undefined` and 0: not known. */
    shardAndNode(first: string | Uint8Array): {
        shard: number | undefined;
        node: number;
    };
    /** Of a node, where it is open now. */
    doorOf(node: number): Door | undefined;
    /** Asks who writes which shard, beside everything else, where that is not known, or old. */
    learnShards(doubtful?: boolean): void;
}
