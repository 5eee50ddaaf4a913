/** What the ledger takes and answers. Design section 5. Amounts are nano-USD; every outcome is a named result. */
import type { Layer, Window } from "./periods.ts";

/** One reservation. `id` becomes the reference of the entry that resolves it; unique within the workspace for ever. */
export interface ReserveInput {
  readonly id: string;
  readonly workspaceId: string;
  readonly keyId: string;
  /** Which of the key's values was used (tenancy, rotation). Absent: whether it still works is not asked. */
  readonly keyRotation?: number | undefined;
  /** An upper bound of what will be charged. */
  readonly amountNano: bigint;
  /** How long the hold may go unattended before the sweeper releases it. */
  readonly leaseMs: number;
  readonly kind: "text" | "image" | "task";
  /**
   * The call may share a hold with others of its key (docs/ledger.md "Pooled holds"): its id has just been made, and only
   * the ledger object that reserved it will post, void or extend it.
   */
  readonly pooled?: boolean | undefined;
}

export type KeyRefusal =
  | "key_unknown"
  | "key_revoked"
  | "key_disabled"
  | "key_expired"
  | "workspace_disabled";

export type ReserveResult =
  | {
      readonly outcome: "reserved" | "already_reserved";
      /** It shares a hold, whose lease `extendPools` keeps. */
      readonly pooled?: true;
    }
  | { readonly outcome: KeyRefusal }
  | {
      readonly outcome: "cap_reached";
      readonly layer: Layer;
      readonly window: Window;
      readonly limitNano: bigint;
      readonly resetsAt: Date | null;
    }
  | { readonly outcome: "insufficient_balance"; readonly availableNano: bigint };

export interface HoldName {
  readonly id: string;
  readonly workspaceId: string;
}

export interface PostInput extends HoldName {
  /** The actual cost; it may be above what was held. */
  readonly amountNano: bigint;
}

export interface PostResult {
  readonly outcome: "posted" | "already_posted" | "already_voided" | "unknown_hold";
  /** What this hold has been charged in all: by this call, or by the one that came first. */
  readonly chargedNano: bigint;
}

export interface VoidResult {
  readonly outcome: "voided" | "already_voided" | "already_posted" | "unknown_hold";
}

export interface ExtendInput extends HoldName {
  readonly leaseMs: number;
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
  /** credits - charged - held; below zero where a call cost more than was held. */
  readonly availableNano: bigint;
}

/** What one workspace, member or key has been charged, and what its open holds reserve. */
export interface Spend extends Readonly<Record<Window, bigint>> {
  readonly heldNano: bigint;
  readonly resetsAt: Readonly<Record<Window, Date | null>>;
}

export interface Entry {
  readonly id: string;
  readonly kind: "credit" | "charge" | "void" | "expire";
  readonly amountNano: bigint;
  readonly heldNano: bigint;
  /** Credits minus charges after this entry. */
  readonly balanceAfterNano: bigint;
  readonly reference: string;
  readonly keyId: string | null;
  readonly memberId: string | null;
  readonly note: string | null;
  readonly createdAt: Date;
}

export interface EntryPage {
  /** Newest first. */
  readonly entries: Entry[];
  /** For the next page; null on the last. */
  readonly nextCursor: string | null;
}
