/** The calls and holds of a history. */
import type { KeyName } from "./adapter.ts";
import { scopeOf, type InUse } from "./oracle.ts";
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
  /** True if the gateway's lease ended while the call ran: nothing is reserved for it. */
  isUncovered: boolean;
  /** Moment at which a batch reserved its amount again after that. */
  coveredAt?: number;
  /** True while an applied batch is checked that reserved this call's bound. */
  isGranted: boolean;
  /** While the call waits: whether it fitted at its lane's last applied batch; `idle` is the unused reservation at that moment. */
  fitted: boolean;
  idle: number;
}

export interface Hold extends InUse {
  readonly id: string;
  readonly place: KeyName;
  readonly amount: number;
}

/** True if the place is in the scope. */
export const inScope = (scope: string, place: KeyName): boolean =>
  (["workspace", "member", "key"] as const).some((layer) => scopeOf(layer, place) === scope);

export type KeyPlace = Omit<KeyName, "member">;

export const isSameKey = (one: KeyPlace, other: KeyPlace): boolean =>
  one.workspace === other.workspace && one.key === other.key && one.rotation === other.rotation;

export const nameOf = ({ workspace, key, rotation }: KeyPlace): string =>
  `${workspace} ${key} ${rotation}`;
