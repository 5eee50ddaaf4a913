/** The URL with which the window was opened. Its page soon rewrites it. */
import { parseSearch } from "../base/search.ts";

export const opened = {
  path: "",
  given: {} as Readonly<Record<string, string>>,
  /** The reader has navigated on. */
  isOver: false,
};

/** Call before the router starts. */
export function noteOpened(): void {
  opened.path = location.pathname;
  opened.given = parseSearch(location.search);
}
