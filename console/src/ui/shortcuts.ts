/** Keys that lead somewhere: a letter after `g`, `/` to the first filter, `?` to the list of them. Never while somebody types. */
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
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || !areKeysOn())
      return false;
    if (isAfterG) return shortcuts.go(event.key);
    if (event.key === "/") return focusFilter();
    if (event.key !== "?") return false;
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
