// A real server for tests: `evershard serve` or the test program door_test_server, as EVERSHARD_SERVER has it.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";

export const root = process.env["EVERSHARD_ROOT"] ?? new URL("../../..", import.meta.url).pathname;
const program = process.env["EVERSHARD_SERVER"] ?? join(root, "build/dev/cli/evershard");
/** Else what only `evershard serve` has is skipped, and said to be. */
export const isServe = basename(program) !== "door_test_server";
export const onlyServe = isServe ? {} : { skip: `needs evershard serve, EVERSHARD_SERVER is ${program}` };

export interface ServerOptions {
  /** Kept where it is given; else a directory that goes with the server. */
  data?: string;
  listen?: string;
  /** NAME SCOPES TOKEN a line. */
  tokens?: string;
  /** Further options of `evershard serve`. */
  more?: string[];
}

export class Server implements AsyncDisposable {
  private constructor(
    readonly process: ChildProcess,
    readonly address: string,
    private readonly directory: string,
  ) {}

  static async start({ data, listen = "127.0.0.1:0", tokens, more = [] }: ServerOptions = {}): Promise<Server> {
    const directory = temporaryDirectory();
    const words = isServe
      ? [
          "serve",
          "--data",
          data ?? join(directory, "data"),
          "--listen",
          listen,
          "--http-listen",
          "none",
          "--log-level",
          "error",
          "--drain-timeout",
          "1s",
          ...more,
        ]
      : [data ?? "-", listen];
    if (tokens !== undefined && isServe) {
      writeFileSync(join(directory, "tokens"), tokens, { mode: 0o600 });
      words.push("--tokens", join(directory, "tokens"));
    } else if (tokens !== undefined) {
      words.push(tokens);
    }
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("EVERSHARD_"))); // they are settings to it
    const child = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"], env });
    const ended = once(child, "exit").then(() => Promise.reject(new Error(`${program} ended before it was ready`)));
    const lines = createInterface({ input: child.stdout! });
    const ready = once(lines, "line") as Promise<[string]>;
    const [line] = await Promise.race([ready, ended]);
    ended.catch(() => {});
    lines.on("line", () => {});
    const address = /^ready (\S+)/.exec(line)?.[1];
    if (!address) throw new Error(`${program} says ${line}`);
    return new Server(child, address, directory);
  }

  get port(): number {
    return Number(this.address.slice(this.address.lastIndexOf(":") + 1));
  }

  /** As if the power had gone. */
  async kill(): Promise<void> {
    await this.#end(() => this.process.kill("SIGKILL"));
  }
  /** As an operator stops it. */
  async stop(): Promise<void> {
    await this.#end(() => {
      if (isServe) this.process.kill("SIGTERM");
      else this.process.stdin!.end();
    });
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }

  async #end(how: () => void): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exited = once(this.process, "exit");
    how();
    await exited;
  }
}

/** A coordinator and nodes on this machine; whoever is killed is started again where it was. */
export class Cluster implements AsyncDisposable {
  readonly addresses: string[] = [];
  readonly #pids: number[] = [];
  private constructor(
    readonly process: ChildProcess,
    private readonly directory: string,
  ) {}

  static async start(nodes: number): Promise<Cluster> {
    const directory = temporaryDirectory();
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("EVERSHARD_")));
    const child = spawn(
      program,
      [
        "cluster",
        "launch",
        `${nodes}`,
        "--data",
        join(directory, "cluster"),
        "--listen",
        "127.0.0.1:0",
        "--shards",
        "8",
      ],
      { stdio: ["ignore", "pipe", "inherit"], env },
    );
    const cluster = new Cluster(child, directory);
    const lines = createInterface({ input: child.stdout! });
    await new Promise<void>((resolve, reject) => {
      child.once("exit", () => reject(new Error("the cluster ended before it was ready")));
      lines.on("line", (line) => {
        const node = /^node \d+ (\S+) pid (\d+)(?: http \S+)?$/.exec(line);
        if (node) {
          cluster.addresses.push(node[1]!);
          cluster.#pids.push(Number(node[2]));
        } else if (line.startsWith("ready ")) {
          resolve();
        }
      });
    });
    return cluster;
  }

  /** Once each, from 0. */
  killNode(node: number): void {
    process.kill(this.#pids[node]!, "SIGKILL");
  }
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const exited = once(this.process, "exit");
      this.process.kill("SIGTERM");
      await exited;
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export function temporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), "evershard-typescript-"));
}

/** The error of what must fail, which is of this class. */
export async function refused<E extends Error>(Class: new (...args: never[]) => E, what: Promise<unknown>): Promise<E> {
  try {
    await what;
  } catch (error) {
    if (error instanceof Class) return error;
    throw error;
  }
  throw new Error(`was not refused with ${Class.name}`);
}
