/** `j` and `k` in a list move the focus from row to row, by each row's link. */
import type { RefObject } from "react";
import { usePageKeys } from "./shortcuts.ts";

const linksIn = (body: HTMLElement): HTMLElement[] =>
  [...body.querySelectorAll("tr")].flatMap(
    (row) => row.querySelector<HTMLElement>("a[href]") ?? [],
  );

/** True if the link is below the sticky header. */
const isInSight = (link: HTMLElement): boolean => link.getBoundingClientRect().top >= 96;

/** Focuses the next or previous row, or the first visible one if no row has the focus. */
function step(body: HTMLElement, by: 1 | -1): void {
  const links = linksIn(body);
  const at = links.findIndex((link) => link.closest("tr")!.contains(document.activeElement));
  const next = at === -1 ? links.find(isInSight) : links[at + by];
  next?.focus({ preventScroll: true });
  next?.closest("tr")?.scrollIntoView({ block: "nearest" });
}

export function useRowKeys(body: RefObject<HTMLElement | null>): void {
  const move = (by: 1 | -1) => () => body.current !== null && step(body.current, by);
  usePageKeys([
    { key: "j", what: "To the next row; Enter opens it", act: move(1) },
    { key: "k", what: "To the previous row", act: move(-1) },
  ]);
}
