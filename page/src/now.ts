// useNow: each second, so that what is said of the time stays true. useAgain: asks again, while somebody looks.

import { useEffect, useState } from "preact/hooks";
import type { Loaded } from "./load.ts";

export function useNow(): number {
  const [now, tell] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => document.hidden || tell(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

export function useAgain({ loading, reload }: Loaded<unknown>, everyMs: number): void {
  useEffect(() => {
    if (loading) return undefined;
    const again = setInterval(() => document.hidden || reload(), everyMs);
    return () => clearInterval(again);
  }, [loading]);
}
