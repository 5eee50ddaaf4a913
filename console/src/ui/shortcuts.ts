/** Keys that do something: a letter after `g`, `/` to the first filter, `?` to the list of them, and those of a page. Never while somebody types. */
import { useEffect, useEffectEvent } from "react";

const kept = "tollgate-single-keys";

/** Whether single keys do something in this browser. */
export function areKeysOn(): boolean {
  try {
    return localStorage.getItem(kept) !== "off";
  } catch {
    return true;
  }
}

export function switchKeys(on: boolean): void {
  try {
    localStorage.setItem(kept, on ? "on" : "off");
  } catch {
    // Storage is switched off: they stay as they are.
  }
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.closest("input, textarea, select, [contenteditable], [role=dialog]") !== null;

function focusFilter(): boolean {
  const field = document.querySelector<HTMLElement>("main input:not([type=hidden], [readonly])");
  field?.focus();
  return field !== null;
}

interface PageKey {
  readonly key: string;
  /** What it does, for the list of keys. */
  readonly what: string;
  readonly act: () => void;
}

/** Those of what is shown, the newest last: a panel that opens over a list has its keys before the list's. */
const shown = new Set<readonly PageKey[]>();

/** The keys that do something on this page now, each once. */
export const pageKeys = (): readonly PageKey[] => [
  ...new Map([...shown].flat().map((one) => [one.key, one])).values(),
];

/** Keys of a page or of a part of it, while it is shown. */
export function usePageKeys(keys: readonly PageKey[]): void {
  const run = useEffectEvent((key: string) => keys.find((one) => one.key === key)?.act());
  const names = JSON.stringify(keys.map(({ key, what }) => [key, what]));
  useEffect(() => {
    const listed = (JSON.parse(names) as [string, string][]).map(([key, what]) => ({
      key,
      what,
      act: () => run(key),
    }));
    shown.add(listed);
    return () => void shown.delete(listed);
  }, [names]);
}

function actOnPage(key: string): boolean {
  const found = pageKeys().find((one) => one.key === key);
  found?.act();
  return found !== undefined;
}

interface Shortcuts {
  /** Goes to the page of a letter; false where there is none. */
  readonly go: (letter: string) => boolean;
  readonly palette: () => void;
  readonly help: () => void;
}

const waitMs = 1_500;

/** Listens while it is mounted. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const act = useEffectEvent((event: KeyboardEvent, isAfterG: boolean): boolean => {
    if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
      shortcuts.palette();
      return true;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return false;
    if (event.key === "Escape") return actOnPage(event.key);
    if (!areKeysOn()) return false;
    if (isAfterG) return shortcuts.go(event.key);
    if (event.key === "/") return focusFilter();
    if (event.key !== "?") return actOnPage(event.key);
    shortcuts.help();
    return true;
  });
  useEffect(() => {
    let pressedMs = -Infinity;
    const listen = (event: KeyboardEvent) => {
      const isAfterG = event.timeStamp - pressedMs < waitMs;
      pressedMs = event.key === "g" && !isTyping(event.target) ? event.timeStamp : -Infinity;
      if (act(event, isAfterG)) event.preventDefault();
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
}
