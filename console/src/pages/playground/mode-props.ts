/** The props of every mode. */
import type { ReactNode } from "react";
import type { Callable, Key } from "./queries.ts";

export interface ModeProps {
  readonly apiKey: Key;
  /** The models that this mode can use. */
  readonly models: readonly Callable[];
  /** Ids of the chosen models. */
  readonly chosen: readonly string[];
  /** The model picker. */
  readonly picker: ReactNode;
  /** Called with a call's log id when it has ended. */
  readonly ended: (requestId: string) => void;
}
