/** Cap windows and their UTC periods. Requirements: CAP; docs/decisions.md "Times". */

/** Longest first: the order in which caps are checked within a layer. */
export const windows = ["total", "monthly", "weekly", "daily"] as const;
export type Window = (typeof windows)[number];

/** The order in which the layers are checked. */
export const layers = ["workspace", "member", "key"] as const;
export type Layer = (typeof layers)[number];

/** Returns the end of the window that contains `nowMs`: 00:00 UTC of the next day, Monday or first of month; null for the total. */
export function resetsAt(window: Window, nowMs: number): Date | null {
  const now = new Date(nowMs);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  switch (window) {
    case "total":
      return null;
    case "monthly":
      return new Date(Date.UTC(year, month + 1, 1));
    case "weekly":
      // getUTCDay counts from Sunday; a week begins on Monday.
      return new Date(Date.UTC(year, month, day + 7 - ((now.getUTCDay() + 6) % 7)));
    case "daily":
      return new Date(Date.UTC(year, month, day + 1));
  }
}
