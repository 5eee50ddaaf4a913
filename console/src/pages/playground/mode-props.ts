/** What every way to make something is given. */
import type { ReactNode } from "react";
import type { Callable, Key } from "./queries.ts";

export interface ModeProps {
  readonly apiKey: Key;
  /** Those that this mode can use. */
  readonly models: readonly Callable[];
  /** Ids of the chosen ones. */
  readonly chosen: readonly string[];
  /** Where they are chosen. */
  readonly picker: ReactNode;
  /** A call has ended: its id in the log. */
  readonly ended: (requestId: string) => void;
}
