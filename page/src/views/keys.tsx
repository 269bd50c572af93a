// The keys, in a dialog.

import { useEffect, useRef } from "preact/hooks";

export function KeysHelp({ places, close }: { places: { title: string; key: string }[]; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl class="fields">
        {places.map(({ title, key }) => (
          <>
            <dt>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>{title}</dd>
          </>
        ))}
        <dt>
          <kbd>/</kbd>
        </dt>
        <dd>The view’s first field</dd>
        <dt>
          <kbd>?</kbd>
        </dt>
        <dd>This list</dd>
        <dt>
          <kbd>Esc</kbd>
        </dt>
        <dd>Closes it</dd>
      </dl>
      <form method="dialog">
        <button type="submit" class="main" autofocus>
          Close
        </button>
      </form>
    </dialog>
  );
}
