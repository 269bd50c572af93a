// The directory of aggregates: by type, in order of type and value.

import { useEffect, useId, useState } from "preact/hooks";
import { get } from "../api.ts";
import { grouped, plural } from "../format.ts";
import { grpcServer } from "../grpc_server.ts";
import { useLoad } from "../load.ts";
import { AggregateLink, PositionLink } from "../parts/links.tsx";
import { Command, Empty, ErrorNote } from "../parts/notes.tsx";
import { pageBefore, Pages } from "../parts/pages.tsx";
import { go, type Route, to } from "../route.ts";
import type { AggregateInfo } from "../shapes.ts";

const limit = 100;
/// In front of what applications name theirs: definitions, logs, scheduled appends, perhaps millions of them.
const own = "$";
const behindOwn = "$\u{10FFFF}-\u{10FFFF}";

interface Listed {
  aggregates: AggregateInfo[];
  next: string | null;
}

/// A page of the directory; without a type the store's own are passed over, unless `all` are asked for.
async function listed(type: string, after: string, all: boolean, signal: AbortSignal): Promise<Listed> {
  const page = await get<Listed>("aggregates", { type, after, limit }, signal);
  if (type !== "" || all) return page;
  const aggregates = page.aggregates.filter((row) => !row.aggregate.startsWith(own));
  if (!page.next?.startsWith(own)) return { aggregates, next: page.next };
  const rest = await get<Listed>("aggregates", { type, after: behindOwn, limit }, signal);
  return { aggregates: [...aggregates, ...rest.aggregates], next: rest.next };
}

export function AggregatesView({ route }: { route: Route }) {
  const type = route.params.get("type") ?? "";
  const after = route.params.get("after") ?? "";
  const all = route.params.get("all") === "1";
  const asked = all ? { type, all: 1 } : { type };
  const page = useLoad(JSON.stringify([type, after, all]), (signal) => listed(type, after, all, signal));
  const [text, setText] = useState(type);
  const [id, setId] = useState("");
  const [typeField, idField] = [useId(), useId()];
  useEffect(() => setText(type), [type]);
  const next = page.data?.next;
  const back = pageBefore(`aggregates ${type} ${all}`, after, next);
  const rows = page.data?.aggregates ?? [];
  const open = (event: Event) => {
    event.preventDefault();
    if (id.trim() !== "") go(to("aggregates", id.trim()));
  };
  return (
    <>
      <h1 tabIndex={-1}>Aggregates</h1>
      <div class="filters">
        <form
          onSubmit={(event) => (event.preventDefault(), go(to("aggregates", { type: text.trim() })))}
          role="search"
          aria-label="Aggregates of a type"
        >
          <div class="field">
            <label for={typeField}>Type</label>
            <input
              id={typeField}
              type="text"
              value={text}
              placeholder="any type"
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </div>
          <button type="submit" class="main">
            Show
          </button>
          {type !== "" && <a href={to("aggregates")}>Clear</a>}
        </form>
        <form onSubmit={open}>
          <div class="field">
            <label for={idField}>Open one</label>
            <input
              id={idField}
              type="text"
              value={id}
              placeholder="order-1"
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => setId(event.currentTarget.value)}
            />
          </div>
          <button type="submit">Open</button>
        </form>
      </div>
      <div class="bar short">
        <Pages
          first={after === "" ? undefined : to("aggregates", asked)}
          back={back === undefined ? undefined : to("aggregates", { ...asked, after: back })}
          next={next ? to("aggregates", { ...asked, after: next }) : undefined}
        />
        {type === "" && (
          <label class="check">
            <input
              type="checkbox"
              checked={all}
              onChange={(event) => go(to("aggregates", { all: event.currentTarget.checked ? "1" : undefined }))}
            />{" "}
            The store's own too
          </label>
        )}
        <p class="dim" role="status">
          {page.data ? plural(rows.length, "aggregate") + (next ? ", and more" : "") : "Asking …"}
        </p>
      </div>
      {page.failure && <ErrorNote failure={page.failure} retry={page.reload} />}
      {rows.length > 0 && (
        <table class={`rows plain ${page.loading ? "stale" : ""}`} aria-label="Aggregates">
          <thead>
            <tr>
              <th>Aggregate</th>
              <th class="right">Version</th>
              <th class="right">Last position</th>
              <th class="right">Shard</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.aggregate}>
                <td>
                  <AggregateLink id={row.aggregate} />
                </td>
                <td class="right num">{grouped(row.version)}</td>
                <td class="right">
                  <PositionLink position={row.last_position} />
                </td>
                <td class="right num">{row.shard}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {page.data && rows.length === 0 && !page.failure && (
        <Empty title={type ? "No aggregate of this type." : "No aggregates yet."}>
          <p>{type ? <a href={to("aggregates")}>Show all</a> : "An aggregate begins with its first event:"}</p>
          {!type && (
            <Command
              text={`evershard append --server ${grpcServer()} --aggregate order-1 --type OrderPlaced --expect none --payload '{"total":12}'`}
            />
          )}
        </Empty>
      )}
    </>
  );
}
