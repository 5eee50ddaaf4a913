/** What a history knows of its calls and holds. */
import type { KeyName } from "./adapter.ts";
import { scopeOf, type InUse } from "./book.ts";
import type { GatewayUnderTest } from "./process.ts";

export interface Call extends InUse {
  readonly id: string;
  readonly gateway: GatewayUnderTest;
  readonly place: KeyName;
  readonly rotation: number;
  readonly bound: number;
  readonly arrivedAt: number;
  readonly sinceMs: number;
  amount: number;
  state: "waiting" | "open" | "posting" | "done" | "refused" | "gone";
  charge: number | null;
  endedMs: number;
  isWritten: boolean;
  /** It runs, and its lane's lease ended since: nothing is set aside for it. */
  isUncovered: boolean;
  /** When what it uses was set aside again after that. */
  coveredAt?: number;
  /** While a batch is looked at that is in the database: it set the call's bound aside. */
  isGranted: boolean;
  /** While it waits: whether it fitted when its lane's last batch was in the database, and what others had idle then. */
  fitted: boolean;
  idle: number;
}

export interface Hold extends InUse {
  readonly id: string;
  readonly place: KeyName;
  readonly amount: number;
}

/** Whether what belongs to the place belongs to the scope too. */
export const inScope = (scope: string, place: KeyName): boolean =>
  (["workspace", "member", "key"] as const).some((layer) => scopeOf(layer, place) === scope);

export type KeyPlace = Omit<KeyName, "member">;

export const isSameKey = (one: KeyPlace, other: KeyPlace): boolean =>
  one.workspace === other.workspace && one.key === other.key && one.rotation === other.rotation;

export const nameOf = ({ workspace, key, rotation }: KeyPlace): string =>
  `${workspace} ${key} ${rotation}`;
