// How the store is right now, which store it is, and what one may do to it.

import { useEffect } from "preact/hooks";
import { get } from "../api.ts";
import { useCell } from "../cell.ts";
import { bytes, grouped, micros, rate, visible } from "../format.ts";
import { grpcServer } from "../grpc_server.ts";
import { rates } from "../live_stats.ts";
import { useLoad } from "../load.ts";
import { Chart } from "../parts/chart.tsx";
import { Id, Time } from "../parts/links.tsx";
import { Maintenance } from "../parts/maintenance.tsx";
import { Command, Empty, ErrorNote } from "../parts/notes.tsx";
import { Tile } from "../parts/tile.tsx";
import type { Stats } from "../shapes.ts";

export function OverviewView() {
  const stats = useLoad("stats", (signal) => get<Stats>("stats", {}, signal));
  const info = useLoad("info", (signal) => get<Record<string, unknown>>("info", {}, signal));
  const { last } = useCell(rates);
  useEffect(() => {
    const timer = setInterval(stats.reload, 10_000);
    return () => clearInterval(timer);
  }, []);

  const now = stats.data;
  const head = last?.head ?? now?.head;
  return (
    <>
      <h1 tabIndex={-1}>Overview</h1>
      {stats.failure && <ErrorNote failure={stats.failure} retry={stats.reload} />}
      <dl class="tiles">
        <Tile name="Head" value={grouped(head)} note="the last position" />
        <Tile name="Indexed in files" value={grouped(now?.sealed)} note="sealed up to here" />
        <Tile name="Tail" value={grouped(last?.tail_events ?? now?.tail_events)} note="events indexed in memory" />
        <Tile
          name="On disk"
          value={bytes(last?.disk_bytes ?? now?.disk_bytes)}
          note={now ? `${bytes(now.disk_free_bytes)} free` : ""}
        />
        <Tile name="In memory" value={bytes(last?.memory_bytes ?? now?.memory_bytes)} note="of the store" />
      </dl>
      {head === 0 && (
        <Empty title="The store is empty.">
          <p>Store a first event, in a shell:</p>
          <Command
            text={`evershard append --server ${grpcServer()} --aggregate order-1 --type OrderPlaced --tag customer:42 --payload '{"total":12}'`}
          />
        </Empty>
      )}
      <div class="charts">
        <Chart title="Appends" unit="a second" show={rate} main={{ name: "appends", label: "appends" }} />
        <Chart title="Events written" unit="a second" show={rate} main={{ name: "events", label: "events" }} />
        <Chart title="Events read" unit="a second" show={rate} main={{ name: "reads", label: "reads" }} />
        <Chart
          title="Commit"
          unit=""
          show={micros}
          main={{ name: "commit_p50", label: "p50" }}
          second={{ name: "commit_p99", label: "p99" }}
        />
        <Chart
          title="Append"
          unit=""
          show={micros}
          main={{ name: "append_p50", label: "p50" }}
          second={{ name: "append_p99", label: "p99" }}
        />
        <Chart title="Refused" unit="requests a second" show={rate} main={{ name: "refused", label: "refused" }} />
      </div>
      <Maintenance />
      <div class="columns">
        <section>
          <h2>Store</h2>
          {info.failure && <ErrorNote failure={info.failure} retry={info.reload} />}
          {info.data && (
            <dl class="fields">
              {Object.entries(info.data).map(([name, value]) => (
                <Fact key={name} name={name} value={value} />
              ))}
            </dl>
          )}
        </section>
        <section>
          <h2>Figures</h2>
          {now && (
            <dl class="fields">
              <dt>commits</dt>
              <dd class="num">{grouped(now.commits)}</dd>
              <dt>appends</dt>
              <dd class="num">{grouped(now.appends)}</dd>
              <dt>refused</dt>
              <dd class="num">{grouped(now.refused)}</dd>
              {Object.entries(now.details).map(([name, value]) => (
                <>
                  <dt>{label(name)}</dt>
                  <dd class="num">{/bytes|^memory\./.test(name) ? bytes(value) : grouped(value)}</dd>
                </>
              ))}
              <dt>backend</dt>
              <dd>{now.backend_assertions ? "with assertions: slower than a release build of it" : "release build"}</dd>
            </dl>
          )}
        </section>
      </div>
    </>
  );
}

const label = (name: string) => visible(name.replaceAll("_", " "));

/// A member of `info`, whatever later versions put there.
function Fact({ name, value }: { name: string; value: unknown }) {
  if (value !== null && typeof value === "object" && !Array.isArray(value)) {
    return (
      <>
        {Object.entries(value).map(([inner, one]) => (
          <Fact key={inner} name={`${name} ${inner}`} value={one} />
        ))}
      </>
    );
  }
  const shown =
    typeof value === "number" ? (
      <span class="num">{name.includes("bytes") ? bytes(value) : grouped(value)}</span>
    ) : typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value) ? (
      <Time utc={value} />
    ) : (
      <Id text={Array.isArray(value) ? value.join(", ") : String(value)} />
    );
  return (
    <>
      <dt>{label(name)}</dt>
      <dd>{shown}</dd>
    </>
  );
}
