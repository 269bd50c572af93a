// The browser of events: by aggregate, type, tag and position, page by page, or live.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { get, post } from "../api.ts";
import { grouped, plural } from "../format.ts";
import { grpcServer } from "../grpc_server.ts";
import { useLoad } from "../load.ts";
import { Chips } from "../parts/chips.tsx";
import { EventRows } from "../parts/event_rows.tsx";
import { Command, Empty, ErrorNote, shellWord } from "../parts/notes.tsx";
import { Tail, type TailState } from "../parts/tail.tsx";
import { become, go, numberOf, type Route, to } from "../route.ts";
import type { Page, StoredEvent } from "../shapes.ts";

const limit = 50;

interface Filter {
  aggregate: string;
  types: string[];
  tags: string[];
}

const filterOf = ({ params }: Route): Filter => ({
  aggregate: params.get("aggregate") ?? "",
  types: params.getAll("type"),
  tags: params.getAll("tag"),
});
const asParams = ({ aggregate, types, tags }: Filter) => ({ aggregate, type: types, tag: tags });
const isAll = ({ aggregate, types, tags }: Filter) => aggregate === "" && types.length === 0 && tags.length === 0;

function ask(filter: Filter, cursor: { after?: number; before?: number }, signal: AbortSignal): Promise<Page> {
  const direction = cursor.after === undefined ? "backwards" : "forwards";
  if (isAll(filter)) return get<Page>("events", { ...cursor, limit, direction }, signal);
  const { aggregate, types, tags } = filter;
  const item = {
    ...(types.length ? { types } : {}),
    ...(tags.length ? { tags } : {}),
    ...(aggregate ? { concerning: [aggregate] } : {}),
  };
  return post<Page>("query", { query: { items: [item] }, ...cursor, limit, direction }, signal);
}

/// Newest first, always; `after` and `before` in the address are where the page begins or ends.
export function EventsView({ route }: { route: Route }) {
  const filter = filterOf(route);
  const [after, before] = [numberOf(route.params, "after"), numberOf(route.params, "before")];
  const live = route.params.has("live");
  const cursor = after !== undefined ? { after } : before !== undefined ? { before } : {};
  const page = useLoad(JSON.stringify([filter, cursor, live]), (signal) => ask(filter, cursor, signal));
  const events = page.data ? [...page.data.events].sort((a, b) => b.position - a.position) : [];
  const [tail, setTail] = useState<TailState>();

  const apply = (next: Filter) => go(to("events", { ...asParams(next), live: live ? "1" : undefined }));
  const [newest, oldest] = [events[0], events.at(-1)];
  const backwards = after === undefined;
  const olderThere = backwards ? page.data?.next !== null : (after ?? 0) > 0;
  const newerThere = backwards ? before !== undefined : page.data?.next !== null;
  const watermark = page.data?.watermark ?? 0;
  const shown = live && tail ? [...tail.events.filter(({ position }) => position > watermark), ...events] : events;

  return (
    <>
      <h1 tabIndex={-1}>Events</h1>
      <FilterBar filter={filter} apply={apply} />
      <div class="bar">
        <div class="pager" role="group" aria-label="Pages">
          <PageLink there={newerThere && !live} href={to("events", asParams(filter))}>
            Newest
          </PageLink>
          <PageLink
            there={newerThere && !live && newest !== undefined}
            href={to("events", { ...asParams(filter), after: newest?.position })}
          >
            Newer
          </PageLink>
          <PageLink
            there={olderThere && !live && oldest !== undefined}
            href={to("events", { ...asParams(filter), before: oldest?.position })}
          >
            Older
          </PageLink>
          <PageLink there={olderThere && !live} href={to("events", { ...asParams(filter), after: 0 })}>
            Oldest
          </PageLink>
        </div>
        <Jump filter={filter} />
        <label class="check live">
          <input
            type="checkbox"
            role="switch"
            checked={live}
            onChange={(event) =>
              become(to("events", { ...asParams(filter), live: event.currentTarget.checked ? "1" : undefined }))
            }
          />{" "}
          Live
        </label>
        <p class="dim" role="status">
          {live ? (tail?.says ?? "Connecting …") : says(page.data, newest, oldest)}
        </p>
      </div>
      {live && page.data && <Tail key={JSON.stringify(filter)} {...filter} after={watermark} change={setTail} />}
      {page.failure && <ErrorNote failure={page.failure} retry={page.reload} />}
      <div class={page.loading ? "stale" : ""} aria-busy={page.loading}>
        {shown.length > 0 && (
          <EventRows events={shown} label="Events, newest first" freshAbove={live ? watermark : undefined} />
        )}
      </div>
      {page.data && shown.length === 0 && !page.failure && (
        <Nothing filter={filter} live={live} moved={after !== undefined || before !== undefined} />
      )}
    </>
  );
}

function says(page: Page | undefined, newest: StoredEvent | undefined, oldest: StoredEvent | undefined): string {
  if (!page) return "Asking …";
  if (!newest || !oldest) return `Nothing here; the head is ${grouped(page.watermark)}`;
  return `${plural(page.events.length, "event")}, ${grouped(oldest.position)} to ${grouped(newest.position)} of ${grouped(page.watermark)}`;
}

function PageLink({ there, href, children }: { there: boolean; href: string; children: string }) {
  return there ? (
    <a class="button" href={href}>
      {children}
    </a>
  ) : (
    <span class="button off" aria-disabled="true">
      {children}
    </span>
  );
}

function FilterBar({ filter, apply }: { filter: Filter; apply: (filter: Filter) => void }) {
  const [aggregate, setAggregate] = useState(filter.aggregate);
  const id = useId();
  useEffect(() => setAggregate(filter.aggregate), [filter.aggregate]);
  return (
    <form
      class="filters"
      role="search"
      aria-label="Which events"
      onSubmit={(event) => (event.preventDefault(), apply({ ...filter, aggregate }))}
    >
      <div class="field">
        <label for={id}>Aggregate</label>
        <input
          id={id}
          type="text"
          value={aggregate}
          placeholder="order-1"
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setAggregate(event.currentTarget.value)}
        />
      </div>
      <Chips
        label="Types"
        joint="or"
        values={filter.types}
        placeholder="any type"
        change={(types) => apply({ ...filter, aggregate, types })}
      />
      <Chips
        label="Tags"
        joint="and"
        values={filter.tags}
        placeholder="any tags"
        change={(tags) => apply({ ...filter, aggregate, tags })}
      />
      <button type="submit" class="main">
        Show
      </button>
      {!isAll(filter) && <a href={to("events")}>Clear</a>}
    </form>
  );
}

function Jump({ filter }: { filter: Filter }) {
  const [text, setText] = useState("");
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const jump = (event: Event) => {
    event.preventDefault();
    if (!/^\d{1,15}$/.test(text)) {
      field.current?.setCustomValidity("A position is a whole number from 1");
      field.current?.reportValidity();
      return;
    }
    go(to("events", { ...asParams(filter), before: Number(text) + 1 }));
  };
  return (
    <form class="jump" onSubmit={jump}>
      <label for={id}>From position</label>
      <input
        ref={field}
        id={id}
        type="text"
        inputMode="numeric"
        size={8}
        value={text}
        onInput={(event) => (
          event.currentTarget.setCustomValidity(""),
          setText(event.currentTarget.value.replace(/[ ,]/g, ""))
        )}
      />
      <button type="submit">Go</button>
    </form>
  );
}

function Nothing({ filter, live, moved }: { filter: Filter; live: boolean; moved: boolean }) {
  if (live) return <Empty title="Nothing yet. Events appear here as they are stored." />;
  if (moved)
    return (
      <Empty title="No events on this side.">
        <p>
          <a href={to("events", asParams(filter))}>To the newest</a>
        </p>
      </Empty>
    );
  const tags = filter.tags.map((tag) => ` --tag ${shellWord(tag)}`).join("");
  const command = `evershard append --server ${grpcServer()} --aggregate ${shellWord(filter.aggregate || "order-1")} --type ${shellWord(filter.types[0] ?? "OrderPlaced")}${tags} --payload '{"total":12}'`;
  return (
    <Empty title={isAll(filter) ? "The store is empty." : "No event matches."}>
      <p>
        {isAll(filter) ? (
          "Store a first event, in a shell:"
        ) : (
          <>
            Words are matched whole, and case matters. <a href={to("events")}>Show all events</a>, or store one that
            matches:
          </>
        )}
      </p>
      <Command text={command} />
    </Empty>
  );
}
