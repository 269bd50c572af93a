// Asks whether a scheduled append is to be cancelled, and does it.

import { useEffect, useRef, useState } from "preact/hooks";
import { Failure, post } from "../api.ts";
import { Id } from "./links.tsx";
import { ErrorNote } from "./notes.tsx";

/// `close`: with whether it was cancelled.
export function CancelDialog({ id, close }: { id: string; close: (done: boolean) => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  useEffect(() => dialog.current?.showModal(), []);
  const cancel = async () => {
    setBusy(true);
    try {
      await post(`scheduled/${encodeURIComponent(id)}/cancel`, {});
      close(true);
    } catch (error) {
      setFailure(error instanceof Failure ? error : new Failure("page", String(error)));
      setBusy(false);
    }
  };
  return (
    <dialog ref={dialog} onClose={() => close(false)} aria-labelledby="cancel-title">
      <h2 id="cancel-title">Cancel a scheduled append</h2>
      <p>
        The events of <Id text={id} /> will not be stored. This cannot be taken back.
      </p>
      {failure && <ErrorNote failure={failure} />}
      <form method="dialog" class="row">
        <button type="button" class="main" disabled={busy} onClick={() => void cancel()}>
          {failure ? "Try again" : "Cancel it"}
        </button>
        <button type="submit" autofocus>
          {failure ? "Close" : "Keep it"}
        </button>
      </form>
    </dialog>
  );
}
