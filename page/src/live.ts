// follow: a server-sent stream that opens again by itself, and says whether it is there.

export type LiveState = "connecting" | "open" | "lost" | "paused";

export interface Follow {
  url: () => string; // asked at every opening: it goes on where the last one ended
  on: Record<string, (data: string) => void>;
  state: (state: LiveState) => void;
  silenceMsMax?: number; // nothing for so long: the connection is taken for lost
}

const waitMs = [500, 1000, 2000, 4000, 8000];
/// A browser opens six connections to a server over HTTP/1.1, all tabs together: one that is not looked at gives its back.
const hiddenMsMax = 30_000;

/// Answers the function that ends it.
export function follow({ url, on, state, silenceMsMax }: Follow): () => void {
  let source: EventSource | undefined;
  let failures = 0;
  let again = 0;
  let silence = 0;
  let hidden = 0;
  let ended = false;

  const close = () => {
    source?.close();
    source = undefined;
    clearTimeout(again);
    clearTimeout(silence);
  };
  const lost = () => {
    close();
    if (ended) return;
    state("lost");
    again = setTimeout(open, waitMs[Math.min(failures, waitMs.length - 1)]);
    failures += 1;
  };
  const listen = () => {
    clearTimeout(silence);
    if (silenceMsMax) silence = setTimeout(lost, silenceMsMax);
  };
  function open() {
    close();
    if (ended) return;
    if (failures === 0) state("connecting");
    const opening = (source = new EventSource(url()));
    opening.onopen = () => {
      failures = 0;
      state("open");
      listen();
    };
    opening.onerror = lost;
    for (const [name, handle] of Object.entries(on)) {
      opening.addEventListener(name, (event) => {
        listen();
        handle((event as MessageEvent<string>).data);
      });
    }
    listen();
  }
  const seen = () => {
    clearTimeout(hidden);
    if (document.hidden) {
      hidden = setTimeout(() => {
        close();
        state("paused");
      }, hiddenMsMax);
    } else if (!source) {
      failures = 0;
      open();
    }
  };

  document.addEventListener("visibilitychange", seen);
  open();
  return () => {
    ended = true;
    close();
    clearTimeout(hidden);
    document.removeEventListener("visibilitychange", seen);
  };
}
