// An invented cluster: a node that is down, one that learns, one whose clock is ahead, and what happened.

const at = (secondsAgo) => new Date(Date.now() - secondsAgo * 1000).toISOString();

export function cluster(head) {
  const node = (number, more) => ({
    kind: "node",
    node: number,
    up: true,
    since: at(9000),
    door: `127.0.0.1:${7419 + number}`,
    address: `127.0.0.1:${40410 + number}`,
    version: "0.1.0",
    shards: 5,
    refused: 0,
    applied_cut: 9120,
    behind: 0,
    behind_events: 0,
    behind_ms: 0,
    replicas: 15,
    ...more,
  });
  const away = { behind_events: 1204, behind_ms: 2950 };
  const trouble = "1 of its 2 replicas are up, appends need 2: start node 3";
  const shards = Array.from({ length: 16 }, (_, shard) => ({
    kind: "shard",
    shard,
    node: shard === 15 ? 3 : 1 + (shard % 2),
    state: shard === 15 ? "no-quorum" : "open",
    epoch: 3,
    ordered: 3012,
    waiting: 0,
    last_position: head,
    trouble: shard === 15 ? trouble : "",
    ...(shard === 15 && { without_writer_ms: 4100 }),
    quorum: 2,
    replicas: shard === 15 ? [2, 3] : [1, 2, 3],
  }));
  const of = (number) => ({
    node: number,
    up: number !== 3,
    ...(number === 3 ? away : { behind_events: 0, behind_ms: 0 }),
  });
  const change = (ago, cause, what, from, to, numbers, ms) => ({
    kind: "change",
    at: at(ago),
    cause,
    what,
    ...(from && { from }),
    ...(to && { to }),
    ...(numbers.length > 0 && { shards: numbers }),
    without_writer_ms: ms,
  });
  return {
    answered_by: 1,
    applied: head,
    coordinator_up: true,
    trouble: "",
    coordinator_epoch: 3,
    last_cut: 9120,
    watermark: head,
    cuts_per_second: 412,
    nodes: [
      node(1, { shards: 8 }),
      node(2, { shards: 7, clock_ahead_ms: 3200, clock_differs: true }),
      node(3, { up: false, since: at(4), shards: 1, ...away }),
      node(4, { shards: 0, replicas: 0, learns: 1, learned_events: 2000, learn_events: 8000, learn_left_ms: 12_400 }),
    ],
    shards,
    sets: [
      {
        kind: "set",
        nodes: [1, 2, 3],
        quorum: 2,
        up: 2,
        leaders: [1, 2],
        learners: [4],
        replicas: [1, 2, 3].map(of),
        shards: shards.slice(0, 15).map(({ shard }) => shard),
        trouble: "",
      },
      { kind: "set", nodes: [2, 3], quorum: 2, up: 1, leaders: [], replicas: [2, 3].map(of), shards: [15], trouble },
    ],
    changes: [
      change(7200, "leads", "this coordinator leads", 0, 0, [], 0),
      ...Array.from({ length: 25 }, (_, i) =>
        change(3000 - i, "balanced", "all nodes write about as many shards", 1, 2, [i % 15], 3),
      ),
      change(600, "drained", "node 2 was drained", 2, 1, [1, 3], 4),
      change(60, "learns", "node 4 is being given them", 0, 4, [0], 0),
      change(2, "node_silent", "node 3 did not answer", 3, 1, [0, 1, 2, 3, 7], 2150),
    ],
  };
}
