import type { MessageInitShape } from "@bufbuild/protobuf";
import type { QuerySchema } from "./gen/evershard/v1/store_pb.js";
/** Types are OR, tags are AND, aggregates concerned are AND; all three together are AND. */
export interface QueryItem {
    types?: readonly string[] | undefined;
    tags?: readonly string[] | undefined;
    /** The event's own aggregate, or one of its `also`. */
    concerning?: readonly string[] | undefined;
}
/**
 * Items are OR. Never changes: each call makes a new one.
 *
 *     Query.types("Placed", "Paid").tags("customer:42").or().concerning("order-1")
 */
export declare class Query {
    readonly items: readonly QueryItem[];
    readonly isAll: boolean;
    /** Every event. */
    static readonly all: Query;
    private constructor();
    static of(...items: QueryItem[]): Query;
    static types(...types: string[]): Query;
    static tags(...tags: string[]): Query;
    static concerning(...aggregates: string[]): Query;
    /** Into the last item. */
    types(...types: string[]): Query;
    tags(...tags: string[]): Query;
    concerning(...aggregates: string[]): Query;
    /** Starts the next item. */
    or(): Query;
    /** As the command line's `--query` takes it. */
    toJSON(): {
        all: true;
    } | {
        items: readonly QueryItem[];
    };
    /** What it means is for the server to check. Errors: InvalidArgumentError, TooLargeError: an aggregate id, or what is no text */
    message(): MessageInitShape<typeof QuerySchema>;
}
