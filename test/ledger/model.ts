/** A ledger in memory, as simple as the rules allow: what the real one must answer. */
import { resetsAt, windows, type Layer, type Window } from "../../src/ledger/index.ts";
import type { PostResult, ReserveResult, VoidResult } from "../../src/ledger/index.ts";

export interface ModelCaps {
  caps: Partial<Record<Window, bigint>>;
  hard: boolean;
}

interface Charge {
  readonly scopes: readonly string[];
  readonly amountNano: bigint;
  readonly atMs: number;
}

interface Hold {
  readonly workspaceId: string;
  readonly scopes: readonly string[];
  readonly amountNano: bigint;
  /** Of its own, or shared with the other pooled calls of its key. */
  lease: { untilMs: number };
  pooled: boolean;
}

const order: readonly Layer[] = ["workspace", "member", "key"];

/** When the period that holds `nowMs` began: one period before its end, found from the calendar. */
function startsAt(window: Window, nowMs: number): number {
  const end = resetsAt(window, nowMs);
  if (end === null) return -Infinity;
  if (window === "monthly") return Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - 1, 1);
  return end.getTime() - (window === "weekly" ? 7 : 1) * 86_400_000;
}

export class LedgerModel {
  readonly credits = new Map<string, bigint>();
  readonly keys = new Map<string, { workspaceId: string; memberId: string | undefined }>();
  readonly caps = new Map<string, ModelCaps>();
  readonly holds = new Map<string, Hold>();
  readonly resolved = new Map<string, { kind: "charge" | "void"; amountNano: bigint }>();
  readonly charges: Charge[] = [];

  sum(workspaceId: string, scope: string): bigint {
    let held = 0n;
    for (const hold of this.holds.values()) {
      if (hold.workspaceId === workspaceId && hold.scopes.includes(scope)) held += hold.amountNano;
    }
    return held;
  }

  charged(scope: string, sinceMs: number): bigint {
    let total = 0n;
    for (const charge of this.charges) {
      if (charge.scopes.includes(scope) && charge.atMs >= sinceMs) total += charge.amountNano;
    }
    return total;
  }

  available(workspaceId: string): bigint {
    const scope = `workspace ${workspaceId}`;
    return (
      (this.credits.get(workspaceId) ?? 0n) -
      this.charged(scope, -Infinity) -
      this.sum(workspaceId, scope)
    );
  }

  reserve(
    input: { id: string; keyId: string; amountNano: bigint; leaseMs: number },
    nowMs: number,
  ): ReserveResult {
    if (this.holds.has(input.id) || this.resolved.has(input.id)) {
      return { outcome: "already_reserved" };
    }
    const key = this.keys.get(input.keyId);
    if (key === undefined) return { outcome: "key_unknown" };
    const { workspaceId, memberId } = key;
    const scopes = [`workspace ${workspaceId}`, `member ${memberId}`, `key ${input.keyId}`];
    for (const [index, layer] of order.entries()) {
      const capped = this.caps.get(scopes[index]!);
      for (const window of windows) {
        const limitNano = capped?.caps[window];
        if (limitNano === undefined) continue;
        const spent = this.charged(scopes[index]!, startsAt(window, nowMs));
        const reserved = this.sum(workspaceId, scopes[index]!) + input.amountNano;
        if (spent >= limitNano || (capped!.hard && spent + reserved > limitNano)) {
          return {
            outcome: "cap_reached",
            layer,
            window,
            limitNano,
            resetsAt: resetsAt(window, nowMs),
          };
        }
      }
    }
    const availableNano = this.available(workspaceId);
    if (input.amountNano > availableNano) return { outcome: "insufficient_balance", availableNano };
    const lease = { untilMs: nowMs + input.leaseMs };
    const { amountNano } = input;
    this.holds.set(input.id, { workspaceId, scopes, amountNano, lease, pooled: false });
    return { outcome: "reserved" };
  }

  /** Puts a hold into the pool of its key, where there is one. */
  pool(id: string): void {
    const hold = this.holds.get(id)!;
    const scope = hold.scopes.at(-1)!;
    for (const other of this.holds.values()) {
      if (!other.pooled || other.scopes.at(-1) !== scope) continue;
      other.lease.untilMs = Math.max(other.lease.untilMs, hold.lease.untilMs);
      hold.lease = other.lease;
    }
    hold.pooled = true;
  }

  post(id: string, amountNano: bigint, nowMs: number): PostResult {
    const hold = this.holds.get(id);
    if (hold !== undefined) {
      this.holds.delete(id);
      this.resolved.set(id, { kind: "charge", amountNano });
      this.charges.push({ scopes: hold.scopes, amountNano, atMs: nowMs });
      return { outcome: "posted", chargedNano: amountNano };
    }
    const before = this.resolved.get(id);
    if (before === undefined) return { outcome: "unknown_hold", chargedNano: 0n };
    return before.kind === "charge"
      ? { outcome: "already_posted", chargedNano: before.amountNano }
      : { outcome: "already_voided", chargedNano: 0n };
  }

  void(id: string): VoidResult {
    if (this.holds.delete(id)) {
      this.resolved.set(id, { kind: "void", amountNano: 0n });
      return { outcome: "voided" };
    }
    const before = this.resolved.get(id);
    if (before === undefined) return { outcome: "unknown_hold" };
    return { outcome: before.kind === "charge" ? "already_posted" : "already_voided" };
  }

  extend(id: string, leaseMs: number, nowMs: number): boolean {
    const hold = this.holds.get(id);
    if (hold === undefined) return false;
    hold.lease.untilMs = Math.max(hold.lease.untilMs, nowMs + leaseMs);
    return true;
  }

  expire(nowMs: number): number {
    const late = [...this.holds].filter(([, hold]) => hold.lease.untilMs <= nowMs);
    for (const [id] of late) this.void(id);
    return late.length;
  }
}
