// Stands in for the container that emmett's tests start: starts the program that EVERSHARD_SERVER names.
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class EventStoreDBContainer {
  async start() {
    const data = join(mkdtempSync(join(tmpdir(), 'emmett-')), 'data');
    const words = ['serve', '--data', data, '--shards', '4', '--log-level', 'error', '--listen', '127.0.0.1:0'];
    const server = spawn(
      process.env.EVERSHARD_SERVER!,
      [...words, '--http-listen', 'none', '--kurrent-listen', '127.0.0.1:0'],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let said = '';
    for await (const part of server.stdout) {
      said += part;
      if (said.includes('\n')) break;
    }
    const address = / kurrent (\S+)/.exec(said)![1];
    return {
      getConnectionString: () => `esdb://${address}?tls=false`,
      stop: async () => {
        server.kill();
      },
    };
  }
}
