/** Values kept in this browser's local storage: one text by name, shared by all components. */
import { useSyncExternalStore } from "react";

interface Kept {
  readonly read: () => string | undefined;
  /** undefined removes the value. */
  readonly write: (text: string | undefined) => void;
  readonly watch: (told: () => void) => () => void;
}

export function keptAs(name: string): Kept {
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
      for (const told of watchers) told();
    },
    watch(told) {
      watchers.add(told);
      return () => void watchers.delete(told);
    },
  };
}

export const useKept = ({ watch, read }: Kept): string | undefined =>
  useSyncExternalStore(watch, read);
