// useLoad: asks when its key changes, drops answers that come too late, keeps the last one while the next is on its way. A
// server that does not answer is asked again until it does.

import { useEffect, useRef, useState } from "preact/hooks";
import { Failure } from "./api.ts";

const againMs = 2000;

export interface Loaded<T> {
  data: T | undefined;
  failure: Failure | undefined;
  loading: boolean;
  reload: () => void;
}

/// `key` undefined: nothing is asked.
export function useLoad<T>(key: string | undefined, ask: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, set] = useState<{ key?: string; data?: T; failure?: Failure; loading: boolean }>({
    loading: key !== undefined,
  });
  const [turn, setTurn] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;

  useEffect(() => {
    if (key === undefined) {
      set({ loading: false });
      return undefined;
    }
    const control = new AbortController();
    let again = 0;
    set((before) => ({ ...before, loading: true }));
    latest.current(control.signal).then(
      (data) => control.signal.aborted || set({ key, data, loading: false }),
      (error: unknown) => {
        if (control.signal.aborted) return;
        if (error instanceof Failure && error.code === "unreachable")
          again = setTimeout(() => setTurn((n) => n + 1), againMs);
        set({
          key,
          failure: error instanceof Failure ? error : new Failure("page", `This page has failed: ${String(error)}`),
          loading: false,
        });
      },
    );
    return () => {
      control.abort();
      clearTimeout(again);
    };
  }, [key, turn]);

  return { data: state.data, failure: state.failure, loading: state.loading, reload: () => setTurn((n) => n + 1) };
}
