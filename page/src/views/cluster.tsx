// The cluster: who is up, who keeps and writes what, how far each is behind, and what happened.

import { own } from "../api.ts";
import { grouped, localTime, plural, shortTime, visible } from "../format.ts";
import { useLoad } from "../load.ts";
import { useAgain } from "../now.ts";
import { Command, Empty, ErrorNote } from "../parts/notes.tsx";
import { grpcServer } from "../grpc_server.ts";
import type { ClusterChange, ClusterNode, ClusterSet, ClusterStatus } from "../shapes.ts";

const askAgainMs = 2_000;
const changesShown = 20;

export function ClusterView() {
  const loaded = useLoad("cluster", (signal) => own<ClusterStatus>("cluster", signal));
  const { data, failure, reload } = loaded;
  useAgain(loaded, askAgainMs);
  return (
    <>
      <h1 tabIndex={-1}>Cluster</h1>
      {failure && <ErrorNote failure={failure} retry={reload} />}
      {!data && !failure && (
        <p class="dim" role="status">
          Asking …
        </p>
      )}
      {data && <Shown status={data} />}
    </>
  );
}

function Shown({ status }: { status: ClusterStatus }) {
  const sets = status.sets ?? [];
  const changes = (status.changes ?? []).slice(-changesShown).reverse();
  return (
    <>
      <Notes status={status} sets={sets} />
      {status.coordinator_up && (
        <p class="dim">
          Asked at node {status.answered_by}. The coordinator leads under epoch {grouped(status.coordinator_epoch)};{" "}
          {plural(status.shards.length, "shard")}, last position {grouped(status.watermark)}.
        </p>
      )}
      <Nodes status={status} />
      {sets.length > 0 && <Sets status={status} sets={sets} />}
      <Harmed status={status} />
      {status.coordinator_up && <Changes changes={changes} more={(status.changes ?? []).length - changes.length} />}
    </>
  );
}

/// What somebody should know, or do.
function Notes({ status, sets }: { status: ClusterStatus; sets: ClusterSet[] }) {
  const clocks = status.nodes.filter((node) => node.clock_differs);
  return (
    <>
      {!status.coordinator_up && (
        <p class="note bad" role="status">
          <b>No coordinator can be asked:</b> {visible(status.trouble)} Below is what the node remembers. Ask the
          coordinators themselves: <code>evershard cluster status --coordinator HOST:PORT,...</code>
        </p>
      )}
      {sets
        .filter((set) => set.trouble !== "")
        .map((set) => (
          <p class="note bad" role="status" key={set.nodes.join()}>
            <b>No quorum of {plural(set.shards.length, "shard")}:</b> {visible(set.trouble)}
          </p>
        ))}
      {clocks.map((node) => (
        <p class="note warn" role="status" key={node.node}>
          The clock of node {node.node} is {grouped(Math.abs(node.clock_ahead_ms ?? 0))} ms{" "}
          {(node.clock_ahead_ms ?? 0) > 0 ? "ahead of" : "behind"} the coordinator’s. Let both machines take their time
          from the same servers (NTP).
        </p>
      ))}
    </>
  );
}

const stateOf = (node: ClusterNode) => (!node.up ? "down" : node.disk_full ? "disk full" : "up");

function Nodes({ status }: { status: ClusterStatus }) {
  return (
    <>
      <h2>Nodes</h2>
      <div class="wide">
        <table class="rows plain" aria-label="Nodes">
          <thead>
            <tr>
              <th class="right">Node</th>
              <th>State</th>
              <th>Since</th>
              <th class="right">Writes</th>
              <th class="right">Keeps</th>
              <th class="right">Behind, events</th>
              <th class="right">ms</th>
              <th>Learns</th>
              <th>Door</th>
            </tr>
          </thead>
          <tbody>
            {status.nodes.map((node) => (
              <tr key={node.node}>
                <td class="right num">{node.node}</td>
                <td class={stateOf(node) === "up" ? "" : "bad"}>{stateOf(node)}</td>
                <td class="c-time">
                  {node.since ? <time title={localTime(node.since)}>{shortTime(node.since)}</time> : "–"}
                </td>
                <td class="right num">{node.gateway ? "gateway" : grouped(node.shards)}</td>
                <td class="right num">{grouped(node.replicas)}</td>
                <td class="right num">{status.coordinator_up ? grouped(node.behind_events) : "–"}</td>
                <td class="right num">{status.coordinator_up ? grouped(node.behind_ms) : "–"}</td>
                <td>
                  <Learning node={node} />
                </td>
                <td class="id">{visible(node.door)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Learning({ node }: { node: ClusterNode }) {
  if (!node.learns) return <span class="dim">–</span>;
  const [done, total] = [node.learned_events ?? 0, node.learn_events ?? 0];
  return (
    <>
      <progress
        max={Math.max(total, 1)}
        value={Math.min(done, total)}
        aria-label={`What node ${node.node} has learned`}
      />{" "}
      {plural(node.learns, "shard")}, {grouped(done)} of {grouped(total)} events
      {node.learn_left_ms !== undefined && `, about ${grouped(Math.ceil(node.learn_left_ms / 1000))} s left`}
    </>
  );
}

function Sets({ status, sets }: { status: ClusterStatus; sets: ClusterSet[] }) {
  return (
    <>
      <h2>Sets of replicas</h2>
      <div class="wide">
        <table class="rows plain" aria-label="Sets of replicas">
          <thead>
            <tr>
              <th>Nodes</th>
              <th class="right">Shards</th>
              <th>Leaders</th>
              <th>Followers, behind by</th>
              <th>Quorum</th>
            </tr>
          </thead>
          <tbody>
            {sets.map((set) => (
              <tr key={set.nodes.join()}>
                <td class="num">
                  {set.nodes.join(" ")}
                  {(set.learners ?? []).map((node) => (
                    <span class="dim" key={node}>
                      {" "}
                      +{node}
                    </span>
                  ))}
                </td>
                <td class="right num">{grouped(set.shards.length)}</td>
                <td class="num">{set.leaders.join(" ") || "–"}</td>
                <td>
                  {set.replicas
                    .filter(({ node }) => set.leaders.length !== 1 || set.leaders[0] !== node)
                    .map(
                      ({ node, up, behind_events, behind_ms }) =>
                        `${node}: ${up ? "" : "down, "}${grouped(behind_events)} events, ${grouped(behind_ms)} ms`,
                    )
                    .join("; ")}
                </td>
                <td class={set.trouble === "" ? "" : "bad"}>
                  {set.up} of {set.nodes.length} up, {set.quorum} needed
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {status.nodes.some((node) => node.learns) && (
        <p class="dim">A node with a plus is being given the set’s shards, and does not count yet.</p>
      )}
    </>
  );
}

/// Shards with which something is wrong; the others are only counted.
function Harmed({ status }: { status: ClusterStatus }) {
  const harmed = status.shards.filter((shard) => shard.state !== "open" && shard.state !== "unknown");
  if (harmed.length === 0) return null;
  return (
    <>
      <h2>Shards that are not well</h2>
      <div class="wide">
        <table class="rows plain" aria-label="Shards that are not well">
          <thead>
            <tr>
              <th class="right">Shard</th>
              <th class="right">Node</th>
              <th>State</th>
              <th class="right">Without writer, ms</th>
              <th>Why</th>
            </tr>
          </thead>
          <tbody>
            {harmed.slice(0, 50).map((shard) => (
              <tr key={shard.shard}>
                <td class="right num">{shard.shard}</td>
                <td class="right num">{shard.node || "–"}</td>
                <td class="bad">{visible(shard.state)}</td>
                <td class="right num">{grouped(shard.without_writer_ms)}</td>
                <td>{visible(shard.trouble ?? "")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {harmed.length > 50 && <p class="dim">And {grouped(harmed.length - 50)} more.</p>}
    </>
  );
}

/// 0, 1, 2, 5 is 0–2, 5.
export function ranges(numbers: readonly number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < numbers.length; i += 1) {
    const first = numbers[i];
    while (i + 1 < numbers.length && numbers[i + 1] === numbers[i]! + 1) i += 1;
    parts.push(first === numbers[i] ? `${first}` : `${first}–${numbers[i]}`);
  }
  return parts.join(", ");
}

function Changes({ changes, more }: { changes: ClusterChange[]; more: number }) {
  return (
    <>
      <h2>What happened</h2>
      {changes.length === 0 ? (
        <Empty title="Nothing is known." />
      ) : (
        <div class="wide">
          <table class="rows plain" aria-label="What happened">
            <thead>
              <tr>
                <th>At</th>
                <th>Why</th>
                <th class="right">From</th>
                <th class="right">To</th>
                <th>Shards</th>
                <th class="right">Without writer, ms</th>
              </tr>
            </thead>
            <tbody>
              {changes.map((change, i) => (
                <tr key={`${change.at}${i}`}>
                  <td class="c-time">
                    <time title={localTime(change.at)}>{shortTime(change.at)}</time>
                  </td>
                  <td>{visible(change.what)}</td>
                  <td class="right num">{change.from ?? "–"}</td>
                  <td class="right num">{change.to ?? "–"}</td>
                  <td class="num">{ranges(change.shards ?? [])}</td>
                  <td class="right num">{grouped(change.without_writer_ms)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {more > 0 && (
        <>
          <p class="dim">{plural(more, "earlier change")}:</p>
          <Command text={`evershard cluster log --server ${grpcServer()}`} />
        </>
      )}
    </>
  );
}
