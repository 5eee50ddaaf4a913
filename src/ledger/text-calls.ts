/**
 * The money of this gateway's text calls, from admission to entry, and the lane of each key. A workspace belongs to one lane. While its
 * account is locked elsewhere it has a lane of its own, so that other workspaces do not wait. docs/ledger.md.
 */
import { newId } from "../base/ids.ts";
import { assertAmount } from "../base/money.ts";
import { Lane, type LaneOptions } from "./lane.ts";
import type { KeyName, ReserveInput, Spent } from "./types.ts";

export type TextCallsOptions = Pick<LaneOptions, "leaseMs" | "send" | "clock" | "sharesCore">;

export class TextCalls {
  /** The id of this gateway process; never reused. */
  readonly gateway = newId("gw");
  private readonly options: TextCallsOptions;
  private readonly main: Lane;
  /** Lanes of workspaces whose account is locked elsewhere. */
  private readonly isolatedLanes = new Map<string, Lane>();
  private opened = 0;

  constructor(options: TextCallsOptions) {
    this.options = options;
    this.main = this.openLane({ onBusy: (workspaceId) => this.isolateWorkspace(workspaceId) });
  }

  /** Implements `Ledger.spend`: exactly one entry ends each admission, whatever the work does. @throws as there */
  async spend<Done extends Spent>(input: ReserveInput, work: () => Promise<Done>): Promise<Done> {
    assertAmount(input.amountNano);
    // Undefined if memory could decide: then nothing is awaited.
    const admitted = this.laneOf(input).admit(input);
    if (admitted !== undefined) await admitted;
    let done: Done;
    try {
      done = await work();
      if (done.amountNano !== null) assertAmount(done.amountNano);
    } catch (error) {
      const lane = this.laneOf(input);
      // The caller gets the error of the work, without delay while the database is away.
      const released = lane.end(input, null).catch(() => undefined);
      if (!lane.isAway) await released;
      throw error;
    }
    await this.laneOf(input).end(input, done.amountNano);
    return done;
  }

  /** Marks keys that may have changed: their next calls ask the database. */
  invalidate(test: (key: KeyName) => boolean): void {
    const nowMs = this.options.clock.now();
    for (const lane of this.lanes)
      for (const key of lane.backlog.keys.values()) if (test(key.name)) key.changedAt = nowMs;
  }

  /** Renews the leases of all lanes. */
  heartbeat(): void {
    for (const lane of this.lanes) lane.heartbeat();
  }

  /** Resolves when everything is sent. The caller begins nothing after it. */
  async close(): Promise<void> {
    await Promise.all([...this.isolatedLanes.values()].map((lane) => lane.close()));
    await this.main.close();
  }

  private get lanes(): Lane[] {
    return [this.main, ...this.isolatedLanes.values()];
  }

  private openLane(handlers: Pick<LaneOptions, "onBusy" | "onRest">): Lane {
    this.opened += 1;
    return new Lane({ ...this.options, ...handlers, gateway: this.gateway, lane: this.opened });
  }

  private laneOf({ workspaceId }: ReserveInput): Lane {
    return this.isolatedLanes.get(workspaceId) ?? this.main;
  }

  private isolateWorkspace(workspaceId: string): void {
    const lane = this.openLane({
      onRest: () => {
        this.isolatedLanes.delete(workspaceId);
        this.main.adopt(workspaceId, lane);
      },
    });
    this.isolatedLanes.set(workspaceId, lane);
    lane.adopt(workspaceId, this.main);
  }
}
