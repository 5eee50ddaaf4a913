/**
 * A button is disabled while its change is in flight, and browsers blur disabled elements. This gives the button its focus back, so
 * that keyboard users can continue and screen readers announce the result.
 */

/** True if no element has the focus. */
export const isFocusLost = (): boolean =>
  document.activeElement === null || document.activeElement === document.body;

let last: EventTarget | null = null;

/** The element that has the focus, or had it before the browser took it away. */
export const focusedLast = (): EventTarget | null =>
  isFocusLost() ? last : document.activeElement;

/** Starts watching the whole page; called once. */
export function keepFocus(): void {
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
