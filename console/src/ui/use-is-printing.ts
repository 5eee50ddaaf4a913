/** True while the page is printed: the colours of the widgets follow an attribute of the page, which media queries do not reach. */
import { useSyncExternalStore } from "react";

const sheet = matchMedia("print");
/** Between the two events, which not all browsers send with a change of the media. */
let isBetween = false;

function watch(changed: () => void): () => void {
  const ended = new AbortController();
  const { signal } = ended;
  const note = (is: boolean) => () => {
    isBetween = is;
    changed();
  };
  addEventListener("beforeprint", note(true), { signal });
  addEventListener("afterprint", note(false), { signal });
  sheet.addEventListener("change", changed, { signal });
  return () => ended.abort();
}

export const useIsPrinting = (): boolean =>
  useSyncExternalStore(watch, () => isBetween || sheet.matches);
