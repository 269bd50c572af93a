// The tester of queries: what matches, and what it cost.

import { useEffect, useState } from "preact/hooks";
import { post } from "../api.ts";
import { grouped, micros, plural } from "../format.ts";
import { grpcServer } from "../grpc_server.ts";
import { useLoad } from "../load.ts";
import { EventRows } from "../parts/event_rows.tsx";
import { Command, Empty, ErrorNote, shellWord } from "../parts/notes.tsx";
import { NumberField } from "../parts/number_field.tsx";
import { emptyQuery, isEmpty, QueryBuilder, readQuery, tidy } from "../parts/query_builder.tsx";
import { go, numberOf, type Route, to } from "../route.ts";
import type { Page, Query } from "../shapes.ts";

export function queryOf(route: Route): Query | undefined {
  const read = readQuery(route.params.get("q") ?? "");
  return typeof read === "string" ? undefined : read;
}

export function QueryView({ route }: { route: Route }) {
  const asked = queryOf(route);
  const [query, setQuery] = useState<Query>(asked ?? emptyQuery);
  const [after, before, upTo, perAggregate, perAggregateFrom] = [
    "after",
    "before",
    "up_to",
    "per_aggregate",
    "per_aggregate_from",
  ].map((name) => numberOf(route.params, name));
  const [limit, setLimit] = useState(numberOf(route.params, "limit") ?? 50);
  const [direction, setDirection] = useState(route.params.get("direction") ?? "forwards");
  const [asOf, setAsOf] = useState(upTo);
  const [ofEach, setOfEach] = useState(perAggregate);
  const text = JSON.stringify(asked);
  useEffect(() => {
    if (asked) setQuery(asked);
  }, [text]);

  const body = asked && {
    query: asked,
    after,
    before,
    up_to: upTo,
    per_aggregate: perAggregate,
    per_aggregate_from: perAggregateFrom,
    limit: numberOf(route.params, "limit") ?? 50,
    direction: route.params.get("direction") ?? "forwards",
  };
  const turn = route.params.get("turn") ?? "";
  const page = useLoad(body && JSON.stringify([body, turn]), (signal) => post<Page>("query", body, signal));
  const run = (event: Event) => {
    event.preventDefault();
    const q = JSON.stringify(tidy(query));
    const again = q === route.params.get("q") ? String(Number(turn) + 1) : undefined;
    go(to("query", { q, limit, direction, up_to: asOf, per_aggregate: ofEach, turn: again }));
  };
  const [data, next] = [page.data, page.data?.next];
  const more = next && ("after" in next || "before" in next) ? next : undefined;
  return (
    <>
      <h1 tabIndex={-1}>Query</h1>
      <form onSubmit={run}>
        <QueryBuilder query={query} change={setQuery} />
        <div class="bar">
          <label class="inline">
            Order{" "}
            <select value={direction} onChange={(event) => setDirection(event.currentTarget.value)}>
              <option value="forwards">oldest first</option>
              <option value="backwards">newest first</option>
            </select>
          </label>
          <NumberField label="Limit" value={limit} min={1} max={1000} change={(n) => setLimit(n ?? 50)} />
          <NumberField label="Of each aggregate" value={ofEach} min={1} placeholder="all" change={setOfEach} />
          <NumberField label="As of position" value={asOf} min={0} placeholder="now" change={setAsOf} />
          <button
            type="submit"
            class="main"
            disabled={isEmpty(query)}
            title={isEmpty(query) ? "The query asks for nothing yet" : undefined}
          >
            Run
          </button>
        </div>
      </form>
      {page.failure && <ErrorNote failure={page.failure} retry={page.reload} />}
      {data && (
        <div class={page.loading ? "stale" : ""} aria-busy={page.loading}>
          <p class="facts" role="status">
            <span>
              <b class="num">{grouped(data.cost?.matches ?? data.events.length)}</b>{" "}
              {data.complete ? (data.events.length === 1 ? "match" : "matches") : "matches, and there are more"}
            </span>
            {data.cost && (
              <span>
                in <b class="num">{micros(data.cost.micros)}</b> in the server
              </span>
            )}
            <span>
              as of <b class="num">{grouped(data.watermark)}</b>
            </span>
            {more && (
              <a
                class="button"
                href={to("query", {
                  q: route.params.get("q"),
                  limit: route.params.get("limit"),
                  direction: route.params.get("direction"),
                  up_to: upTo ?? data.watermark,
                  per_aggregate: perAggregate,
                  ...more,
                })}
              >
                Next page
              </a>
            )}
          </p>
          {data.events.length > 0 ? (
            <EventRows events={data.events} label="Matches" />
          ) : (
            <Empty title="Nothing matches.">
              <p>Types, tags and aggregates are matched whole, and case matters.</p>
            </Empty>
          )}
          <h2>The same in a shell</h2>
          <Command
            text={`evershard query --server ${grpcServer()} --query ${shellWord(JSON.stringify(asked))}${perAggregate === undefined ? "" : ` --per-aggregate ${perAggregate}`}`}
          />
        </div>
      )}
      {!asked && !page.loading && (
        <Empty title="Build a query and run it.">
          <p>
            For a start:{" "}
            <a href={to("query", { q: '{"all":true}', limit: 50, direction: "backwards" })}>
              all events, the newest first
            </a>
            . The address of this page keeps the query: it can be shared.
          </p>
        </Empty>
      )}
      <p class="unseen" role="status">
        {page.loading ? `Asking for ${plural(limit, "event")} at most` : ""}
      </p>
    </>
  );
}
