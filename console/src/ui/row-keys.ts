/** `j` and `k` in a list: the focus goes from row to row, by the link that each one has. */
import type { RefObject } from "react";
import { usePageKeys } from "./shortcuts.ts";

const linksIn = (body: HTMLElement): HTMLElement[] =>
  [...body.querySelectorAll("tr")].flatMap(
    (row) => row.querySelector<HTMLElement>("a[href]") ?? [],
  );

/** In the page, below its head. */
const isInSight = (link: HTMLElement): boolean => link.getBoundingClientRect().top >= 96;

/** The row after the one that has the focus, or the first in sight where none has. */
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
    { key: "k", what: "To the row before", act: move(-1) },
  ]);
}
