// Cell: a value that outlives the views that show it.

import { useEffect, useState } from "preact/hooks";

export class Cell<T> {
  private listeners = new Set<() => void>();
  turn = 0;
  constructor(public value: T) {}

  set(value: T): void {
    this.value = value;
    this.turn += 1;
    for (const listener of this.listeners) listener();
  }
  /// The value is the same object, with other content.
  touch(): void {
    this.set(this.value);
  }
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

export function useCell<T>(cell: Cell<T>): T {
  const [, show] = useState(cell.turn);
  useEffect(() => {
    show(cell.turn); // it may have been set between the drawing and now
    return cell.listen(() => show(cell.turn));
  }, [cell]);
  return cell.value;
}
