/** Microseconds since 1970, of a Date, of RFC 3339 text (digits beyond microseconds are cut), or as they are. Errors: InvalidArgumentError */
export declare function microseconds(time: Date | string | bigint, what: string): bigint;
/** Always six digits and `Z`; outside of the years 1 to 9999 the bare number, as `-62135596800000001us`. */
export declare function timestampText(us: bigint): string;
