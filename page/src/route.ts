// Where one is: #/events/17?type=Placed.

import { Cell, useCell } from "./cell.ts";
import type { Params } from "./api.ts";

export interface Route {
  path: string[];
  params: URLSearchParams;
  hash: string;
}

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

export function routeOf(hash: string): Route {
  const text = hash.replace(/^#\/?/, "");
  const mark = text.indexOf("?");
  const path = (mark < 0 ? text : text.slice(0, mark))
    .split("/")
    .filter((part) => part !== "")
    .map(decoded);
  return { path, params: new URLSearchParams(mark < 0 ? "" : text.slice(mark + 1)), hash };
}

const route = new Cell(routeOf(location.hash));
addEventListener("hashchange", () => route.set(routeOf(location.hash)));

export const useRoute = (): Route => useCell(route);

/// `to('events', 17)` is #/events/17. Every part may hold anything.
export function to(...parts: (string | number | Params)[]): string {
  const last = parts.at(-1);
  const params = typeof last === "object" ? last : {};
  const path = parts.filter((part) => typeof part !== "object").map((part) => encodeURIComponent(String(part)));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined || value === null || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  const text = search.toString();
  return `#/${path.join("/")}${text ? `?${text}` : ""}`;
}

export function go(hash: string): void {
  location.hash = hash;
}

/// Without a step in the history.
export function become(hash: string): void {
  history.replaceState(null, "", hash);
  route.set(routeOf(hash));
}

export function numberOf(params: URLSearchParams, name: string): number | undefined {
  const text = params.get(name);
  return text !== null && /^\d{1,16}$/.test(text) ? Number(text) : undefined;
}
