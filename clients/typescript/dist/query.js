// Query: which events, by type, tag and aggregate concerned.
import { splitAggregate, textOf } from "./ids.js";
/**
 * Items are OR. Never changes: each call makes a new one.
 *
 *     Query.types("Placed", "Paid").tags("customer:42").or().concerning("order-1")
 */
export class Query {
    items;
    isAll;
    /** Every event. */
    static all = new Query([], true);
    constructor(items, isAll = false) {
        this.items = items;
        this.isAll = isAll;
    }
    static of(...items) { return new Query(items); }
    static types(...types) { return new Query([{ types }]); }
    static tags(...tags) { return new Query([{ tags }]); }
    static concerning(...aggregates) { return new Query([{ concerning: aggregates }]); }
    /** Into the last item. */
    types(...types) { return new Query(withMore(this.items, { types }), this.isAll); }
    tags(...tags) { return new Query(withMore(this.items, { tags }), this.isAll); }
    concerning(...aggregates) { return new Query(withMore(this.items, { concerning: aggregates }), this.isAll); }
    /** Starts the next item. */
    or() { return new Query([...this.items, {}], this.isAll); }
    /** As the command line's `--query` takes it. */
    toJSON() {
        return this.isAll ? { all: true } : { items: this.items };
    }
    /** What it means is for the server to check. Errors: InvalidArgumentError, TooLargeError: an aggregate id, or what is no text */
    message() {
        return {
            all: this.isAll,
            items: this.items.map(({ types = [], tags = [], concerning = [] }) => ({
                types: types.map((type) => textOf(type, "query: a type")),
                tags: tags.map((tag) => textOf(tag, "query: a tag")),
                concerning: concerning.map(splitAggregate),
            })),
        };
    }
}
function withMore(items, more) {
    const item = items.at(-1) ?? {};
    const join = (part) => (more[part] ? { [part]: [...(item[part] ?? []), ...more[part]] } : {});
    return [...items.slice(0, -1), { ...item, ...join("types"), ...join("tags"), ...join("concerning") }];
}
