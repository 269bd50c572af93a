// Asks whether something is to be done that changes what happens, and does it.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Failure, post } from "../api.ts";
import { ErrorNote } from "./notes.tsx";

export interface Question {
  title: string;
  sentence: ComponentChildren;
  yes: string;
  no: string;
  path: string; // where it is asked for
  body?: unknown;
}

/// `close`: with whether it was done.
export function ConfirmDialog({ question, close }: { question: Question; close: (done: boolean) => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  useEffect(() => dialog.current?.showModal(), []);
  const act = async () => {
    setBusy(true);
    try {
      await post(question.path, question.body ?? {});
      close(true);
    } catch (error) {
      setFailure(error instanceof Failure ? error : new Failure("page", String(error)));
      setBusy(false);
    }
  };
  return (
    <dialog ref={dialog} onClose={() => close(false)} aria-labelledby="confirm-title">
      <h2 id="confirm-title">{question.title}</h2>
      <p>{question.sentence}</p>
      {failure && <ErrorNote failure={failure} />}
      <form method="dialog" class="row">
        <button type="button" class="main" disabled={busy} onClick={() => void act()}>
          {failure ? "Try again" : question.yes}
        </button>
        <button type="submit" autofocus>
          {failure ? "Close" : question.no}
        </button>
      </form>
    </dialog>
  );
}
