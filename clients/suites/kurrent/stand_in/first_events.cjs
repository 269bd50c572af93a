// What a new KurrentDB has in `$all` before anybody wrote: some of it, by their client. Called where that is installed.
const { createRequire } = require("node:module");
const { KurrentDBClient, jsonEvent } = createRequire(process.cwd() + "/")("@kurrent/kurrentdb-client");

(async () => {
  const db = KurrentDBClient.connectionString(process.argv[2]);
  for (const [stream, events] of Object.entries(require("./first_events.json"))) {
    await db.appendToStream(
      stream,
      events.map(([type, data]) => jsonEvent({ type, data })),
    );
  }
  process.exit(0);
})();
