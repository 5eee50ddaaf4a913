/**
 * The money of this gateway's text calls, from admission to entry, and which lane their keys are in. A workspace belongs to one lane;
 * where its account is locked elsewhere it has one of its own until it is free, so that nobody else waits. docs/ledger.md.
 */
import { newId } from "../base/ids.ts";
import { Lane, type LaneOptions } from "./lane.ts";
import { checkAmount, type KeyName, type ReserveInput, type Spent } from "./types.ts";

export type TextCallsOptions = Pick<LaneOptions, "leaseMs" | "send" | "clock" | "sharesCore">;

export class TextCalls {
  /** This gateway, among all that ever were. */
  readonly gateway = newId("gw");
  private readonly options: TextCallsOptions;
  private readonly main: Lane;
  /** Lanes of workspaces whose account is locked elsewhere. */
  private readonly apart = new Map<string, Lane>();
  private opened = 0;

  constructor(options: TextCallsOptions) {
    this.options = options;
    this.main = this.openLane({ onBusy: (workspaceId) => this.setApart(workspaceId) });
  }

  /** The bracket of `Ledger.spend`: whatever becomes of the work, one entry ends what its admission began. @throws as there */
  async spend<Done extends Spent>(input: ReserveInput, work: () => Promise<Done>): Promise<Done> {
    checkAmount(input.amountNano);
    // At once where it can be decided in memory: then nothing is awaited.
    const admitted = this.laneOf(input).admit(input);
    if (admitted !== undefined) await admitted;
    let done: Done;
    try {
      done = await work();
      if (done.amountNano !== null) checkAmount(done.amountNano);
    } catch (error) {
      const lane = this.laneOf(input);
      // What the work threw is what its caller is to hear of, and not late where the database is away.
      const released = lane.post(input, null).catch(() => undefined);
      if (!lane.isAway) await released;
      throw error;
    }
    await this.laneOf(input).post(input, done.amountNano);
    return done;
  }

  /** Something about these keys may have changed: their next calls ask the database. */
  distrust(test: (key: KeyName) => boolean): void {
    const nowMs = this.options.clock.now();
    for (const lane of this.lanes)
      for (const key of lane.backlog.keys.values()) if (test(key.name)) key.changedAt = nowMs;
  }

  /** Keeps the leases. */
  heartbeat(): void {
    for (const lane of this.lanes) lane.heartbeat();
  }

  /** Resolves when everything is sent; nothing may begin after it. */
  async close(): Promise<void> {
    await Promise.all([...this.apart.values()].map((lane) => lane.close()));
    await this.main.close();
  }

  private get lanes(): Lane[] {
    return [this.main, ...this.apart.values()];
  }

  private openLane(hears: Pick<LaneOptions, "onBusy" | "onRest">): Lane {
    this.opened += 1;
    return new Lane({ ...this.options, ...hears, gateway: this.gateway, lane: this.opened });
  }

  private laneOf({ workspaceId }: ReserveInput): Lane {
    return this.apart.get(workspaceId) ?? this.main;
  }

  private setApart(workspaceId: string): void {
    const lane = this.openLane({
      onRest: () => {
        this.apart.delete(workspaceId);
        this.main.adopt(workspaceId, lane);
      },
    });
    this.apart.set(workspaceId, lane);
    lane.adopt(workspaceId, this.main);
  }
}
