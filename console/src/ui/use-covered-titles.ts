/**
 * The link of a row covers all of it, so a title below the link never shows: the link says what is under the pointer. That is the
 * title there, such as an exact amount, or the text of a cell that is cut off.
 */
import { useEffect, type RefObject } from "react";

/** What the link says by itself, while it says something else. */
interface Covered {
  readonly link: HTMLElement;
  readonly own: string;
}

const isCut = (element: Element): boolean =>
  element.classList.contains("cut") && element.scrollWidth > element.clientWidth;

/** What is to be read at a place of a row, below its link; undefined where nothing is but what the link says. */
function wordsAt(row: Element, link: Element, { clientX, clientY }: MouseEvent) {
  for (const element of document.elementsFromPoint(clientX, clientY)) {
    if (element === row) return undefined;
    if (element === link || !row.contains(element)) continue;
    const title = element.getAttribute("title") ?? "";
    if (title !== "") return title;
    if (isCut(element)) return element.textContent;
  }
  return undefined;
}

export function useCoveredTitles(body: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = body.current;
    if (element === null) return undefined;
    let covered: Covered | undefined;
    const restore = (): void => {
      if (covered !== undefined) covered.link.title = covered.own;
      covered = undefined;
    };
    const look = (event: MouseEvent): void => {
      const row = (event.target as Element).closest("tr");
      const link = row?.querySelector<HTMLElement>("a[href]") ?? undefined;
      if (link !== covered?.link) restore();
      if (row === null || link === undefined) return;
      covered ??= { link, own: link.title };
      link.title = wordsAt(row, link, event) ?? covered.own;
    };
    element.addEventListener("mousemove", look);
    element.addEventListener("mouseleave", restore);
    return () => {
      restore();
      element.removeEventListener("mousemove", look);
      element.removeEventListener("mouseleave", restore);
    };
  }, [body]);
}
