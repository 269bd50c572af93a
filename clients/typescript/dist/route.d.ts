export declare const hashId = 1;
/** XXH64 with seed 0. */
export declare function xxh64(bytes: Uint8Array): bigint;
/** Of an aggregate's text form, or of the 16 bytes of an append's first event id. */
export declare function shardOf(name: string | Uint8Array, shards: number): number;
