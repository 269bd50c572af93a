// The tester of append conditions: would an append with it be taken now?

import { useEffect, useState } from "preact/hooks";
import { get, post } from "../api.ts";
import { useCell } from "../cell.ts";
import { grouped, micros } from "../format.ts";
import { grpcServer } from "../grpc_server.ts";
import { rates } from "../live_stats.ts";
import { useLoad } from "../load.ts";
import { EventRows } from "../parts/event_rows.tsx";
import { Command, Empty, ErrorNote, shellWord } from "../parts/notes.tsx";
import { NumberField } from "../parts/number_field.tsx";
import { emptyQuery, isEmpty, QueryBuilder, tidy } from "../parts/query_builder.tsx";
import { go, numberOf, type Route, to } from "../route.ts";
import type { Query, Verdict } from "../shapes.ts";
import { queryOf } from "./query.tsx";

export function ConditionView({ route }: { route: Route }) {
  const asked = queryOf(route);
  const askedAfter = numberOf(route.params, "after") ?? 0;
  const [query, setQuery] = useState<Query>(asked ?? emptyQuery);
  const [after, setAfter] = useState<number | undefined>(numberOf(route.params, "after"));
  const head = useCell(rates).last?.head;
  const text = JSON.stringify(asked);
  useEffect(() => {
    if (asked) setQuery(asked);
  }, [text]);

  const turn = route.params.get("turn") ?? "";
  const { data, failure, loading, reload } = useLoad(asked && JSON.stringify([asked, askedAfter, turn]), (signal) =>
    post<Verdict>("condition", { query: asked, after: askedAfter }, signal),
  );
  const run = (event: Event) => {
    event.preventDefault();
    const q = JSON.stringify(tidy(query));
    go(to("condition", { q, after: after ?? 0, turn: String(Number(turn) + 1) }));
  };
  const takeHead = async () =>
    setAfter(head ?? (await get<{ head: number }>("head").catch(() => ({ head: undefined }))).head);
  return (
    <>
      <h1 tabIndex={-1}>Condition</h1>
      <p class="lead">
        An append may be refused if an event matches that is newer than what was read: <code>fail_if</code> a query{" "}
        <code>after</code> a position. Try one.
      </p>
      <form onSubmit={run}>
        <QueryBuilder query={query} change={setQuery} />
        <div class="bar">
          <NumberField label="After position" value={after} min={0} placeholder="0: ever" change={setAfter} />
          <button type="button" onClick={() => void takeHead()}>
            The head{head === undefined ? "" : `, ${grouped(head)}`}
          </button>
          <button
            type="submit"
            class="main"
            disabled={isEmpty(query)}
            title={isEmpty(query) ? "The query asks for nothing yet" : undefined}
          >
            Test
          </button>
        </div>
      </form>
      {failure && <ErrorNote failure={failure} retry={reload} />}
      {data && !failure && (
        <div class={loading ? "stale" : ""} aria-busy={loading}>
          <div class={`verdict ${data.holds ? "holds" : "fails"}`} role="status">
            <p>
              <b>{data.holds ? "Holds" : "Fails"}</b>{" "}
              {data.holds
                ? `nothing that matches stands between ${grouped(askedAfter)} and the head, ${grouped(data.head)}`
                : `the event at position ${grouped(data.first_conflict?.position)} matches; the head is ${grouped(data.head)}`}
            </p>
            <p class="dim num">{micros(data.micros)} in the server</p>
          </div>
          {data.first_conflict && (
            <>
              <h2>First conflict</h2>
              <EventRows events={[data.first_conflict]} label="The first conflict" />
            </>
          )}
          <h2>An append with it</h2>
          <Command
            text={`evershard append --server ${grpcServer()} --type Audited --fail-if ${shellWord(JSON.stringify(asked))} --after ${askedAfter}`}
          />
        </div>
      )}
      {!asked && (
        <Empty title="Build a query, say after which position, and test it.">
          <p>“Holds” is true of this moment: only the append itself decides, over all shards.</p>
        </Empty>
      )}
    </>
  );
}
