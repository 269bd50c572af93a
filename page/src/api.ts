// Calls of the JSON API, with its errors.

import { parse } from "./json_source.ts";
import { eventStream } from "./sse_body.ts";

/// An error of the API, or of the way to it (`unreachable`, `bad_answer`).
export class Failure extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly status = 0,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
  }
}

export type Params = Record<string, string | number | readonly string[] | undefined | null>;

/// What users stored; the rest of an answer is the server's.
const kept = new Set(["payload", "metadata", "decoded", "state"]);

let unauthorized = () => {};
/// Called whenever an answer says that the session is none.
export function onUnauthorized(then: () => void): void {
  unauthorized = then;
}

export function address(path: string, params: Params = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined || value === null || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  const text = search.toString();
  return `/api/v1/${path}${text ? `?${text}` : ""}`;
}

async function send(url: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { credentials: "same-origin", cache: "no-store", redirect: "error", ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Failure("unreachable", "The server does not answer. It may have been stopped, or the network is down.");
  }
  if (response.ok) return response;
  const failure = refused(await response.text().catch(() => ""), response.status, response.headers.get("Retry-After"));
  if (response.status === 401 && !url.endsWith("/session")) unauthorized();
  throw failure;
}

export function refused(body: string, status: number, retryAfter: string | null = null): Failure {
  try {
    const { error } = parse(body, kept) as { error: { code: string; message: string } };
    const { code, message, ...details } = error;
    if (retryAfter) Object.assign(details, { retry_after: `${retryAfter} s` });
    return new Failure(String(code), String(message), status, details);
  } catch {
    return new Failure(`http_${status}`, "The server refused, and gave no reason that this page understands.", status);
  }
}

async function read<T>(response: Response, stored: ReadonlySet<string> = kept): Promise<T> {
  const text = await response.text();
  try {
    return (text === "" ? {} : parse(text, stored)) as T;
  } catch {
    throw new Failure(
      "bad_answer",
      "The answer is no JSON. Is there something between this page and the server?",
      response.status,
    );
  }
}

export async function get<T>(path: string, params?: Params, signal?: AbortSignal): Promise<T> {
  return read<T>(await send(address(path, params), { signal, headers: { Accept: "application/json" } }));
}

/// An answer that has nothing in it which users stored.
export async function own<T>(path: string, signal: AbortSignal): Promise<T> {
  return read<T>(await send(address(path), { signal, headers: { Accept: "application/json" } }), new Set());
}

export async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const headers = { Accept: "application/json", "Content-Type": "application/json" };
  return read<T>(await send(address(path), { method: "POST", signal, headers, body: JSON.stringify(body) }));
}

export async function remove(path: string): Promise<void> {
  await send(address(path), { method: "DELETE", headers: { "Content-Type": "application/json" } });
}

export type OnProgress = (done: number, total: number) => void;

/// Long work: progress as server-sent events, then its result. Aborting stops the work.
export async function work<T>(path: string, onProgress: OnProgress, signal: AbortSignal): Promise<T> {
  const headers = { Accept: "text/event-stream", "Content-Type": "application/json" };
  const response = await send(address(path), { method: "POST", signal, headers, body: "{}" });
  if (!response.headers.get("Content-Type")?.startsWith("text/event-stream") || !response.body)
    return read<T>(response);
  for await (const { event, data } of eventStream(response.body)) {
    if (event === "progress") {
      const { done, total } = JSON.parse(data) as { done: number; total: number };
      onProgress(done, total);
    } else if (event === "result") {
      return JSON.parse(data) as T;
    } else if (event === "error") {
      throw refused(data, 0);
    }
  }
  throw new Failure("unreachable", "The connection ended before the result came. The work may have been stopped.");
}

/// An event out of a live stream.
export const parsed = <T>(data: string): T => parse(data, kept) as T;
