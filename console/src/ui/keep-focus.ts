/**
 * A button cannot be pressed while its change is under way, and a browser takes the focus from what is disabled. Here it gets it back:
 * whoever works by keys presses on, and hears what became of it.
 */

/** Whether nothing has the focus. */
export const isFocusLost = (): boolean =>
  document.activeElement === null || document.activeElement === document.body;

/** Begins to look after the whole page, once. */
export function keepFocus(): void {
  let last: EventTarget | null = null;
  document.addEventListener("focusin", ({ target }) => (last = target));
  const look = ({ target }: MutationRecord): void => {
    if (target !== last || !(target instanceof HTMLButtonElement)) return;
    if (!target.disabled && isFocusLost()) target.focus({ preventScroll: true });
  };
  new MutationObserver((records) => records.forEach(look)).observe(document.body, {
    attributes: true,
    attributeFilter: ["disabled"],
    subtree: true,
  });
}
