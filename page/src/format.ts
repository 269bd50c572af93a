// Figures, times and foreign text, as they are shown.

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export const grouped = (n: number | null | undefined): string =>
  n === null || n === undefined ? "–" : whole.format(n);

/// Three digits, for figures that change each second.
export function rate(n: number | null | undefined): string {
  if (n === null || n === undefined) return "–";
  if (n >= 999_500) return `${(n / 1e6).toFixed(n < 9.995e6 ? 2 : 1)} M`;
  if (n >= 10_000) return `${(n / 1e3).toFixed(n < 99_950 ? 1 : 0)} k`;
  return n >= 100 || Number.isInteger(n) ? whole.format(n) : n.toFixed(1);
}

export function bytes(n: number | null | undefined): string {
  if (n === null || n === undefined) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  while (n >= 1024 && unit < units.length - 1) {
    n /= 1024;
    unit += 1;
  }
  return `${unit === 0 || n >= 100 ? whole.format(n) : n.toFixed(1)} ${units[unit]}`;
}

export function micros(n: number | null | undefined): string {
  if (n === null || n === undefined) return "–";
  if (n < 1000) return `${whole.format(n)} µs`;
  if (n < 1e6) return `${(n / 1e3).toFixed(n < 1e4 ? 2 : 1)} ms`;
  return `${(n / 1e6).toFixed(2)} s`;
}

const two = (n: number) => String(n).padStart(2, "0");

/// Local time to the millisecond; what is no time comes out as it is.
export function localTime(utc: string): string {
  const at = new Date(utc);
  if (Number.isNaN(at.getTime())) return utc;
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

/// For a table: without the year where it is this one.
export function shortTime(utc: string): string {
  const text = localTime(utc);
  return text.startsWith(`${new Date().getFullYear()}-`) ? text.slice(5) : text;
}

const units: [number, string][] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];

/// How far away, in the unit that tells most: `in 3 h`, `5 min ago`.
export function relative(utc: string, now: number): string {
  const seconds = Math.trunc((new Date(utc).getTime() - now) / 1000);
  const away = Math.abs(seconds);
  const unit = units.find(([size]) => away >= size);
  if (Number.isNaN(seconds) || !unit) return Number.isNaN(seconds) ? "" : "now";
  const text = `${grouped(Math.floor(away / unit[0]))} ${unit[1]}`;
  return seconds > 0 ? `in ${text}` : `${text} ago`;
}

/// Control characters, and those that turn the direction of writing, are shown as escapes: they could make one id look like another.
export function visible(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

export const plural = (n: number, one: string, many = `${one}s`): string => `${grouped(n)} ${n === 1 ? one : many}`;
