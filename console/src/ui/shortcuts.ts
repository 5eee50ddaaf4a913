/**
 * Keyboard shortcuts: a letter after `g`, `/` for the first filter, `?` for the list of shortcuts, and those of the page. Never active
 * while the reader types, except Ctrl K and F8.
 */
import { useEffect, useEffectEvent } from "react";
import { focusNotice } from "./notices.ts";

const kept = "tollgate-single-keys";

/** True if single-key shortcuts are on in this browser. */
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
    // Storage is disabled: the setting stays as it is.
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
  /** Its action, for the list of shortcuts. */
  readonly what: string;
  readonly act: () => void;
}

/** The shortcuts of the mounted components, the newest last. A panel that opens over a list takes precedence over the list. */
const shown = new Set<readonly PageKey[]>();

/** The current shortcuts of the page, each key once. */
export const pageKeys = (): readonly PageKey[] => [
  ...new Map([...shown].flat().map((one) => [one.key, one])).values(),
];

/** Registers the shortcuts of a component while it is mounted. */
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
  /** Opens the page of a letter; false if there is none. */
  readonly go: (letter: string) => boolean;
  readonly palette: () => void;
  readonly help: () => void;
}

const waitMs = 1_500;

/** Listens for shortcuts while mounted. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const act = useEffectEvent((event: KeyboardEvent, isAfterG: boolean): boolean => {
    if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
      shortcuts.palette();
      return true;
    }
    if (event.key === "F8") return focusNotice();
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
