/**
 * The money of this gateway's text calls, from admission to entry, which lane their keys are in, and what others change meanwhile. A
 * workspace belongs to one lane; where its account is locked elsewhere it has one of its own until it is free, so that nobody else
 * waits. docs/ledger.md.
 */
import { newId } from "../base/ids.ts";
import type { Database } from "../storage/index.ts";
import { checkAmount } from "./amounts.ts";
import type { Parcel } from "./backlog.ts";
import { sendTo } from "./batch.ts";
import { KeyUse } from "./key-use.ts";
import { systemLaneClock } from "./lane-clock.ts";
import { Lane, type LaneOptions } from "./lane.ts";
import { anyRotation, type ReserveInput, type Spent } from "./types.ts";

export type TextCallsOptions = Pick<LaneOptions, "leaseMs" | "send" | "clock" | "watch">;

export class TextCalls {
  /** This gateway, among all that ever were. */
  readonly gateway = newId("gw");
  private readonly options: TextCallsOptions;
  private readonly main: Lane;
  /** Lanes of workspaces whose account is locked elsewhere. */
  private readonly apart = new Map<string, Lane>();
  private readonly keys = new Map<string, KeyUse>();
  private lanes = 0;

  constructor(options: TextCallsOptions) {
    this.options = options;
    this.main = this.openLane({ onBusy: (id, parcel) => this.setApart(id, parcel) });
  }

  /** The bracket of `Ledger.spend`: whatever becomes of the work, one entry ends what its admission began. @throws as there */
  async spend<Done extends Spent>(input: ReserveInput, work: () => Promise<Done>): Promise<Done> {
    const { id, amountNano: bound } = input;
    checkAmount(bound);
    const key = this.keyOf(input);
    // At once where it can be decided in memory: then nothing is awaited.
    const admitted = this.laneOf(key).admit(key, bound);
    if (admitted !== undefined) await admitted;
    let done: Done;
    try {
      done = await work();
      if (done.amountNano !== null) checkAmount(done.amountNano);
    } catch (error) {
      const lane = this.laneOf(key);
      // What the work threw is what its caller is to hear of, and not late where the database is away.
      const released = lane.post(key, id, null, bound).catch(() => undefined);
      if (!lane.isAway) await released;
      throw error;
    }
    await this.laneOf(key).post(key, id, done.amountNano, bound);
    return done;
  }

  /** Something about these keys may have changed: their next calls ask the database. */
  distrust(test: (key: { readonly workspaceId: string; readonly keyId: string }) => boolean): void {
    for (const key of this.keys.values()) if (test(key)) key.distrust();
  }

  /** Keeps the leases. */
  heartbeat(): void {
    for (const lane of [this.main, ...this.apart.values()]) lane.heartbeat();
    const nowMs = this.options.clock.now();
    for (const [name, key] of this.keys) if (key.isUnused(nowMs)) this.keys.delete(name);
  }

  /** Resolves when everything is sent; nothing may begin after it. */
  async close(): Promise<void> {
    await Promise.all([...this.apart.values()].map((lane) => lane.rest(true)));
    await this.main.rest(true);
  }

  private openLane(hears: Pick<LaneOptions, "onBusy" | "onRest">): Lane {
    this.lanes += 1;
    return new Lane({ ...this.options, ...hears, gateway: this.gateway, lane: this.lanes });
  }

  private laneOf({ workspaceId }: KeyUse): Lane {
    return this.apart.size === 0 ? this.main : (this.apart.get(workspaceId) ?? this.main);
  }

  private keyOf({ workspaceId, keyId, keyRotation = anyRotation }: ReserveInput): KeyUse {
    const name = `${workspaceId} ${keyId} ${keyRotation}`;
    let key = this.keys.get(name);
    if (key === undefined) {
      key = new KeyUse(workspaceId, keyId, keyRotation);
      this.keys.set(name, key);
    }
    this.laneOf(key).add(key);
    return key;
  }

  /** The account is locked elsewhere: its workspace goes on in a lane of its own, and comes back when it has come through. */
  private setApart(workspaceId: string, parcel: Parcel): void {
    const lane = this.openLane({ onRest: () => this.bringBack(workspaceId, lane) });
    this.apart.set(workspaceId, lane);
    lane.adopt(parcel);
  }

  private bringBack(workspaceId: string, lane: Lane): void {
    if (this.apart.get(workspaceId) !== lane) return;
    this.apart.delete(workspaceId);
    this.main.adopt(lane.release(workspaceId));
  }
}

/** The text calls of this process on `database`, which hear of changes by its signals. */
export function openTextCalls(
  database: Database,
  { leaseMs, watch }: Pick<TextCallsOptions, "leaseMs" | "watch">,
): { calls: TextCalls; close(): Promise<void> } {
  const calls = new TextCalls({ leaseMs, watch, send: sendTo(database), clock: systemLaneClock });
  const { signals } = database;
  const endings = [
    signals.subscribe("keys", (id) => calls.distrust(({ keyId }) => keyId === id)),
    signals.subscribe("workspaces", (id) =>
      calls.distrust(({ workspaceId }) => workspaceId === id),
    ),
    signals.onReconnect(() => calls.distrust(() => true)),
  ];
  const beat = setInterval(() => calls.heartbeat(), leaseMs / 3).unref();
  return {
    calls,
    async close() {
      clearInterval(beat);
      for (const end of endings) end();
      await calls.close();
    },
  };
}
