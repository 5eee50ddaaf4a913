/** What the ledger takes and answers. Amounts are nano-USD; every outcome is a named result. docs/ledger.md. */
import type { Layer, Window } from "./periods.ts";

/** A call or a task: its id is the reference of its entry, unique within the workspace for ever. */
export interface CallName {
  readonly id: string;
  readonly workspaceId: string;
}

/** Above every rotation: whether a value of the key still works is not asked. */
export const anyRotation = 2_147_483_647;

/** A call that asks to be let in. Its id is the gateway's own, and no other call has it. */
export interface ReserveInput extends CallName {
  readonly keyId: string;
  /** Which of the key's values was used (tenancy, rotation); `anyRotation` where absent. */
  readonly keyRotation?: number | undefined;
  /** Its bound: the most it is expected to cost. */
  readonly amountNano: bigint;
}

/** An image call or a task, which holds its bound by a row of its own. */
export interface HoldInput extends ReserveInput {
  readonly kind: "image" | "task";
  /** How long the hold may go unattended before the sweeper releases it. */
  readonly leaseMs: number;
}

/** How many open holds of images and tasks there may be, this one included: of all workspaces, and of one. */
export interface QueueLimits {
  readonly global: number;
  readonly perWorkspace: number;
}

export type KeyRefusal =
  | "key_unknown"
  | "key_revoked"
  | "key_disabled"
  | "key_expired"
  | "workspace_disabled";

export type Refusal =
  | { readonly outcome: KeyRefusal }
  | {
      readonly outcome: "cap_reached";
      readonly layer: Layer;
      readonly window: Window;
      readonly limitNano: bigint;
      readonly resetsAt: Date | null;
    }
  | { readonly outcome: "insufficient_balance"; readonly availableNano: bigint };

/** What a text call's work came to. */
export interface Spent {
  /** What it is charged; null: nothing. */
  readonly amountNano: bigint | null;
}

export type HoldRefusal = (Refusal | { readonly outcome: "queue_full" }) & {
  /** It would fit, if others returned what they have set aside and do not use, which takes them a moment at most. */
  readonly mayFitSoon?: boolean;
};
export type HoldResult = { readonly outcome: "reserved" } | HoldRefusal;

/** How a hold ended; `unknown`: there is no such hold. */
export interface SettleResult {
  readonly outcome: "posted" | "voided" | "already_posted" | "already_voided" | "unknown";
  /** What it was charged in all: by this operation, or by the one that came first. */
  readonly chargedNano: bigint;
  /** Its hold had expired while it still ran: it was charged by an entry of its own. */
  readonly isLate: boolean;
}

export interface CreditInput {
  readonly workspaceId: string;
  /** Below zero it takes credit back, at most all that was ever credited. */
  readonly amountNano: bigint;
  /** The same reference twice is one credit. */
  readonly reference: string;
  readonly note?: string | undefined;
}

export interface CreditResult {
  readonly outcome: "credited" | "already_credited";
  /** Of the entry that stands: with `already_credited` the earlier one, whose amount may differ. */
  readonly entryId: string;
  readonly amountNano: bigint;
  readonly balanceAfterNano: bigint;
  readonly createdAt: Date;
}

export interface Balance {
  readonly creditsNano: bigint;
  readonly chargedNano: bigint;
  readonly heldNano: bigint;
  /** How far below zero credits - charged may go; null: without limit. 0 for a workspace that is prepaid. */
  readonly creditLineNano: bigint | null;
  /** credits + credit line (0 where it is without limit) - charged - held; below zero where a call cost more than its bound. */
  readonly availableNano: bigint;
}
