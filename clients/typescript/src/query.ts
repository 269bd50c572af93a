// Query: which events, by type, tag and aggregate concerned.

import type { MessageInitShape } from "@bufbuild/protobuf";

import type { Query as Message, QuerySchema } from "./gen/evershard/v1/store_pb.js";
import { aggregateText, splitAggregate, textOf } from "./ids.js";

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
export class Query {
  /** Every event. */
  static readonly all = new Query([], true);

  private constructor(
    readonly items: readonly QueryItem[],
    readonly isAll = false,
  ) {}

  static of(...items: QueryItem[]): Query {
    return new Query(items);
  }
  static types(...types: string[]): Query {
    return new Query([{ types }]);
  }
  static tags(...tags: string[]): Query {
    return new Query([{ tags }]);
  }
  static concerning(...aggregates: string[]): Query {
    return new Query([{ concerning: aggregates }]);
  }

  /** As the server says it. */
  static from(message: Message | undefined): Query {
    const items = (message?.items ?? []).map(({ types, tags, concerning }) => ({
      ...(types.length > 0 && { types }),
      ...(tags.length > 0 && { tags }),
      ...(concerning.length > 0 && { concerning: concerning.map(aggregateText) }),
    }));
    return new Query(items, message?.all ?? false);
  }

  /** Into the last item. */
  types(...types: string[]): Query {
    return new Query(withMore(this.items, { types }), this.isAll);
  }
  tags(...tags: string[]): Query {
    return new Query(withMore(this.items, { tags }), this.isAll);
  }
  concerning(...aggregates: string[]): Query {
    return new Query(withMore(this.items, { concerning: aggregates }), this.isAll);
  }
  /** Starts the next item. */
  or(): Query {
    return new Query([...this.items, {}], this.isAll);
  }

  /** As the command line's `--query` takes it. */
  toJSON(): { all: true } | { items: readonly QueryItem[] } {
    return this.isAll ? { all: true } : { items: this.items };
  }

  /** What it means is for the server to check. Errors: InvalidArgumentError, TooLargeError: an aggregate id, or what is no text */
  message(): MessageInitShape<typeof QuerySchema> {
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

function withMore(items: readonly QueryItem[], more: QueryItem): QueryItem[] {
  const item = items.at(-1) ?? {};
  const join = (part: keyof QueryItem): QueryItem =>
    more[part] ? { [part]: [...(item[part] ?? []), ...more[part]] } : {};
  return [...items.slice(0, -1), { ...item, ...join("types"), ...join("tags"), ...join("concerning") }];
}
