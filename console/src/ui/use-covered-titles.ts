/**
 * A row's link covers the whole row, so titles below it would never show. The link therefore takes the title under the pointer, such as
 * an exact amount, or the text of a truncated cell.
 */
import { useEffect, type RefObject } from "react";

/** The link's own title, while another replaces it. */
interface Covered {
  readonly link: HTMLElement;
  readonly own: string;
}

const isCut = (element: Element): boolean =>
  element.classList.contains("cut") && element.scrollWidth > element.clientWidth;

/** The title under the pointer in a row, below its link; undefined if only the link's own applies. */
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
