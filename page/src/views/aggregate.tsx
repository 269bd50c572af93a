// One aggregate: its stream, its state at any version, its snapshots.

import { useEffect, useId, useState } from "preact/hooks";
import { get } from "../api.ts";
import { grouped, plural, visible } from "../format.ts";
import { grpcServer } from "../grpc_server.ts";
import { useLoad } from "../load.ts";
import { EventRows } from "../parts/event_rows.tsx";
import { BytesView, JsonView } from "../parts/json_view.tsx";
import { Id, PositionLink, Time } from "../parts/links.tsx";
import { Command, Empty, ErrorNote, shellWord } from "../parts/notes.tsx";
import { PayloadView, textOf } from "../parts/payload.tsx";
import { become, numberOf, type Route, to } from "../route.ts";
import type { AggregateInfo, Page, Snapshot, State } from "../shapes.ts";

const limit = 50;
const tabs = [
  ["", "Stream"],
  ["state", "State"],
  ["snapshots", "Snapshots"],
] as const;

export function AggregateView({ route, id }: { route: Route; id: string }) {
  const path = `aggregates/${encodeURIComponent(id)}`;
  const tab = route.path[2] ?? "";
  const info = useLoad(path, (signal) => get<AggregateInfo>(path, {}, signal));
  return (
    <>
      <h1 tabIndex={-1} class="id">
        <Id text={id} />
      </h1>
      {info.failure && <ErrorNote failure={info.failure} retry={info.reload} />}
      {info.failure?.code === "not_found" && (
        <Empty title="There is no such aggregate.">
          <p>
            Case matters. <a href={to("aggregates")}>The directory</a> lists all, or begin it:
          </p>
          <Command
            text={`evershard append --server ${grpcServer()} --aggregate ${shellWord(id)} --type OrderPlaced --expect none --payload '{"total":12}'`}
          />
        </Empty>
      )}
      {info.data && (
        <>
          <p class="facts">
            <span>
              version <b class="num">{grouped(info.data.version)}</b>, last at{" "}
              <PositionLink position={info.data.last_position} />, shard <b class="num">{info.data.shard}</b>
            </span>
            <a href={to("events", { aggregate: id })}>All that concerns it</a>
          </p>
          <nav class="tabs" aria-label="Of this aggregate">
            {tabs.map(([name, title]) => (
              <a
                key={name}
                href={name ? to("aggregates", id, name) : to("aggregates", id)}
                aria-current={tab === name ? "page" : undefined}
              >
                {title}
              </a>
            ))}
          </nav>
          {tab === "state" ? (
            <StateTab path={path} id={id} route={route} last={info.data.version} />
          ) : tab === "snapshots" ? (
            <SnapshotsTab path={path} id={id} />
          ) : (
            <StreamTab path={path} id={id} route={route} last={info.data.version} />
          )}
        </>
      )}
    </>
  );
}

function StreamTab({ path, id, route, last }: { path: string; id: string; route: Route; last: number }) {
  const from = numberOf(route.params, "from");
  const direction = route.params.get("order") === "newest" ? "backwards" : "forwards";
  const page = useLoad(JSON.stringify([path, from, direction]), (signal) =>
    get<Page>(`${path}/events`, { from, limit, direction }, signal),
  );
  const events = page.data?.events ?? [];
  const order = direction === "backwards" ? "newest" : undefined;
  const end = events.at(-1)?.seq_nr;
  const next = end === undefined || page.data?.next === null ? undefined : end + (direction === "backwards" ? -1 : 1);
  return (
    <>
      <div class="bar">
        <div class="pager" role="group" aria-label="Pages">
          <a
            class="button"
            href={to("aggregates", id)}
            aria-current={direction === "forwards" && from === undefined ? "true" : undefined}
          >
            From the first
          </a>
          <a
            class="button"
            href={to("aggregates", id, { order: "newest" })}
            aria-current={direction === "backwards" && from === undefined ? "true" : undefined}
          >
            From the newest
          </a>
          {next === undefined ? (
            <span class="button off" aria-disabled="true">
              More
            </span>
          ) : (
            <a class="button" href={to("aggregates", id, { from: next, order })}>
              More
            </a>
          )}
        </div>
        <p class="dim" role="status">
          {events.length > 0
            ? `Numbers ${grouped(events[0]?.seq_nr)} to ${grouped(end)} of ${grouped(last)}`
            : page.loading
              ? "Asking …"
              : "Nothing here"}
        </p>
      </div>
      {page.failure && <ErrorNote failure={page.failure} retry={page.reload} />}
      {events.length > 0 && <EventRows events={events} label="The aggregate’s events" />}
    </>
  );
}

function StateTab({ path, id, route, last }: { path: string; id: string; route: Route; last: number }) {
  const asked = Math.min(Math.max(numberOf(route.params, "version") ?? last, 1), last);
  const [version, setVersion] = useState(asked);
  const [slider, field] = [useId(), useId()];
  useEffect(() => setVersion(asked), [asked]);
  useEffect(() => {
    if (version === asked) return undefined;
    const timer = setTimeout(() => become(to("aggregates", id, "state", { version })), 200);
    return () => clearTimeout(timer);
  }, [version]);
  const { data, failure, loading, reload } = useLoad(`${path} ${asked}`, (signal) =>
    get<State>(`${path}/state`, { version: asked }, signal),
  );
  const put = (text: string) => {
    const n = Number(text);
    if (Number.isInteger(n) && n >= 1 && n <= last) setVersion(n);
  };
  return (
    <>
      <div class="bar versions">
        <label for={field}>Version</label>
        <input
          id={field}
          type="number"
          min={1}
          max={last}
          value={version}
          onInput={(event) => put(event.currentTarget.value)}
        />
        <label class="unseen" for={slider}>
          Version, as a slider
        </label>
        <input
          id={slider}
          type="range"
          min={1}
          max={last}
          value={version}
          onInput={(event) => put(event.currentTarget.value)}
        />
        <span class="dim num">of {grouped(last)}</span>
      </div>
      {failure && <ErrorNote failure={failure} retry={reload} />}
      {data && (
        <div class={loading ? "stale" : ""} aria-busy={loading}>
          {data.snapshot ? (
            <>
              <p class="facts" role="status">
                State of version <b class="num">{grouped(data.state_version)}</b>
                {data.decoded_as && (
                  <>
                    , <Id text={data.decoded_as} />
                  </>
                )}
                ; snapshot of revision <b class="num">{data.snapshot.schema_revision}</b>, taken{" "}
                <Time utc={data.snapshot.taken_at} />
                {data.snapshot.latest && ", the latest"}
              </p>
              {data.events_after > 0 && (
                <p class="note warn">
                  {plural(data.events_after, "event")} behind it: the state of version {grouped(data.version)} is what{" "}
                  {data.events_after === 1 ? "it makes" : "they make"} of this. Only the aggregate’s own program knows
                  how.
                </p>
              )}
              {data.state_encoding ? (
                <BytesView base64={textOf(data.state)} what="the state" />
              ) : (
                <JsonView key={asked} json={data.state.text} what="the state" />
              )}
            </>
          ) : (
            <Empty title="No snapshot at or before this version.">
              <p>
                The state is what the {plural(data.events_after, "event")} below make of nothing. The program that hosts
                the aggregate writes snapshots; or, by hand:
              </p>
              <Command
                text={`evershard snapshot put ${shellWord(id)} --server ${grpcServer()} --version ${data.version} --payload '{}'`}
              />
            </Empty>
          )}
          {data.events.length > 0 && (
            <>
              <h2>
                Events behind it
                {data.events.length < data.events_after ? `, the first ${grouped(data.events.length)}` : ""}
              </h2>
              <EventRows events={data.events} label="Events behind the snapshot" />
            </>
          )}
        </div>
      )}
    </>
  );
}

function SnapshotsTab({ path, id }: { path: string; id: string }) {
  const { data, failure, reload } = useLoad(path, (signal) =>
    get<{ snapshots: Snapshot[] }>(`${path}/snapshots`, {}, signal),
  );
  if (failure) return <ErrorNote failure={failure} retry={reload} />;
  if (!data)
    return (
      <p class="dim" role="status">
        Asking …
      </p>
    );
  if (data.snapshots.length === 0) {
    return (
      <Empty title="No snapshots.">
        <p>The program that hosts the aggregate writes them, by its retention or on demand.</p>
        <Command text={`evershard snapshot list ${shellWord(id)} --server ${grpcServer()}`} />
      </Empty>
    );
  }
  return (
    <>
      {[...data.snapshots]
        .sort((a, b) => b.version - a.version)
        .map((one) => (
          <details class="snapshot" key={`${one.version} ${one.latest}`}>
            <summary>
              Version <b class="num">{grouped(one.version)}</b>
              {one.latest && <span class="badge">latest</span>} <span class="dim">at</span>{" "}
              <span class="num">{one.position}</span> <span class="dim">revision {one.schema_revision}, taken</span>{" "}
              <Time utc={one.taken_at} />
              {one.expires_at && (
                <>
                  {" "}
                  <span class="dim">expires</span> <Time utc={one.expires_at} />
                </>
              )}
            </summary>
            <p>
              <a href={to("aggregates", id, "state", { version: one.version })}>
                The state at version {grouped(one.version)}
              </a>
              {one.decoded_as && <span class="dim"> {visible(one.decoded_as)}</span>}
            </p>
            <PayloadView stored={one} />
          </details>
        ))}
    </>
  );
}
