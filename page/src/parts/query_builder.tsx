// A query, built from items or written as JSON: each follows the other.

import { useEffect, useId, useState } from "preact/hooks";
import type { Query, QueryItem } from "../shapes.ts";
import { Chips } from "./chips.tsx";

export const emptyQuery: Query = { items: [{}] };

const strings = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

/// A query, or the sentence that says why it is none. What else is wrong, the server says.
export function readQuery(text: string): Query | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `no JSON: ${(error as Error).message}`;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "must be an object";
  const keys = Object.keys(value);
  if ("all" in value) return keys.length === 1 && value.all === true ? { all: true } : '"all": true stands alone';
  if (!("items" in value) || keys.length !== 1) return 'must be {"items":[…]} or {"all":true}';
  if (!Array.isArray(value.items)) return "items must be a list";
  for (const [i, item] of value.items.entries()) {
    if (typeof item !== "object" || item === null || Array.isArray(item)) return `items[${i}] must be an object`;
    for (const [name, part] of Object.entries(item)) {
      if (!["types", "tags", "concerning"].includes(name))
        return `items[${i}].${name} is not known; known are types, tags, concerning`;
      if (!strings(part)) return `items[${i}].${name} must be a list of strings`;
    }
  }
  return { items: value.items as QueryItem[] };
}

/// Without what says nothing.
export function tidy(query: Query): Query {
  if ("all" in query) return query;
  return {
    items: query.items.map(({ types, tags, concerning }) => ({
      ...(types?.length ? { types } : {}),
      ...(tags?.length ? { tags } : {}),
      ...(concerning?.length ? { concerning } : {}),
    })),
  };
}

export const isEmpty = (query: Query): boolean =>
  "items" in query &&
  query.items.every((item) => !item.types?.length && !item.tags?.length && !item.concerning?.length);

export const written = (query: Query): string => {
  const tidied = tidy(query);
  return "all" in tidied
    ? '{"all":true}'
    : `{"items":[\n${tidied.items.map((item) => `  ${JSON.stringify(item)}`).join(",\n")}\n]}`;
};

export function QueryBuilder({ query, change }: { query: Query; change: (query: Query) => void }) {
  const [text, setText] = useState(written(query));
  const [wrong, setWrong] = useState<string>();
  const id = useId();
  const now = written(query);
  useEffect(() => {
    const read = readQuery(text);
    if (typeof read === "string" || written(read) !== now) {
      setText(now);
      setWrong(undefined);
    }
  }, [now]);

  const type = (next: string) => {
    setText(next);
    const read = readQuery(next);
    setWrong(typeof read === "string" ? read : undefined);
    if (typeof read !== "string") change(read);
  };
  const items = "all" in query ? [] : query.items;
  const put = (i: number, item: QueryItem) => change({ items: items.map((other, k) => (k === i ? item : other)) });
  return (
    <div class="builder">
      <div class="items">
        <label class="check">
          <input
            type="checkbox"
            checked={"all" in query}
            onChange={(event) => change(event.currentTarget.checked ? { all: true } : emptyQuery)}
          />{" "}
          All events
        </label>
        {items.map((item, i) => (
          <fieldset class="item" key={i}>
            <legend>{i === 0 ? "Item 1" : `or item ${i + 1}`}</legend>
            <Chips
              label="Types"
              joint="or"
              values={item.types ?? []}
              placeholder="any type"
              change={(types) => put(i, { ...item, types })}
            />
            <Chips
              label="Tags"
              joint="and"
              values={item.tags ?? []}
              placeholder="any tags"
              change={(tags) => put(i, { ...item, tags })}
            />
            <Chips
              label="Concerning"
              joint="and"
              values={item.concerning ?? []}
              placeholder="any aggregate"
              change={(concerning) => put(i, { ...item, concerning })}
            />
            {items.length > 1 && (
              <button type="button" class="link" onClick={() => change({ items: items.filter((_, k) => k !== i) })}>
                Remove item {i + 1}
              </button>
            )}
          </fieldset>
        ))}
        {"items" in query && (
          <button type="button" onClick={() => change({ items: [...items, {}] })}>
            Add an item (or)
          </button>
        )}
      </div>
      <div class="field text">
        <label for={id}>The same as JSON</label>
        <textarea
          id={id}
          rows={Math.min(14, Math.max(6, text.split("\n").length + 1))}
          spellcheck={false}
          value={text}
          aria-invalid={wrong !== undefined}
          aria-describedby={`${id}-wrong`}
          onInput={(event) => type(event.currentTarget.value)}
        />
        <p id={`${id}-wrong`} class={wrong ? "wrong" : "dim"} role="status">
          {wrong ?? "Items are OR; in an item types are OR, tags and aggregates AND."}
        </p>
      </div>
    </div>
  );
}
