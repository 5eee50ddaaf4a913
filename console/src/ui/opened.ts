/** The address as the window was opened with it. It soon becomes what its page made of it. */
import { parseSearch } from "../base/search.ts";

export const opened = {
  path: "",
  given: {} as Readonly<Record<string, string>>,
  /** The reader has gone on. */
  isOver: false,
};

/** To be called before the router starts. */
export function noteOpened(): void {
  opened.path = location.pathname;
  opened.given = parseSearch(location.search);
}
