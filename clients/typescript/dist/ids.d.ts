/**
 * The parts of an aggregate id such as `order-1`, split at the first `-`. Bytes are read as UTF-8.
 * Errors: InvalidArgumentError, TooLargeError
 */
export declare function splitAggregate(text: string | Uint8Array): {
    type: string;
    value: string;
};
/** An aggregate id of its parts. Errors: InvalidArgumentError, TooLargeError */
export declare function aggregateId(type: string, value: string): string;
export declare function aggregateText(id: {
    type: string;
    value: string;
}): string;
/** No half of a surrogate pair is in it: it can be written as UTF-8. As String.isWellFormed, which Node 18 does not have. */
export declare function isUtf8(text: string): boolean;
/** Text that goes over the wire as it is; half of a surrogate pair would silently become U+FFFD. Errors: InvalidArgumentError */
export declare function textOf(value: string, what: string): string;
/** A random UUID (version 4). */
export declare function newId(): string;
/** The 16 bytes of a UUID. Errors: InvalidArgumentError */
export declare function uuidBytes(text: string, what: string): Uint8Array;
export declare function uuidText(bytes: Uint8Array): string;
/** A number the server gave. Positions are counted from 1: at a million events a second, 2^53 is 285 years away; it is never rounded. */
export declare function toNumber(value: bigint): number;
/** Errors: InvalidArgumentError */
export declare function toUint64(value: number, what: string): bigint;
