/** Values kept in this browser's local storage: one text by name, shared by all components. */
import { useSyncExternalStore } from "react";

interface StoredValue {
  readonly read: () => string | undefined;
  /** undefined removes the value. */
  readonly write: (text: string | undefined) => void;
  readonly watch: (listener: () => void) => () => void;
}

export function storedValue(name: string): StoredValue {
  const watchers = new Set<() => void>();
  const load = (): string | undefined => {
    try {
      return localStorage.getItem(name) ?? undefined;
    } catch {
      // Storage is disabled: the value lasts as long as the page.
      return undefined;
    }
  };
  let now = load();
  return {
    read: () => now,
    write(text) {
      now = text;
      try {
        if (text === undefined) localStorage.removeItem(name);
        else localStorage.setItem(name, text);
      } catch {
        // As above.
      }
      for (const listener of watchers) listener();
    },
    watch(listener) {
      watchers.add(listener);
      return () => void watchers.delete(listener);
    },
  };
}

export const useStoredValue = ({ watch, read }: StoredValue): string | undefined =>
  useSyncExternalStore(watch, read);
