/**
 * The meters in use in this process, and the sequence of queries about them. One query is in flight at a time; calls that arrive meanwhile
 * wait for the next one. docs/limits.md.
 */
import { Meter, type Short } from "./meter.ts";
import type { MeterName, SendAsks } from "./take.ts";

/** Limits in one query, at most. */
const asksMax = 500;
/** Delay, in ms, after which waiting calls are retried under a limit of calls at once. */
const retryMs = 20;
/** Interval, in ms, at which unused grants are given back. */
const settleEveryMs = 250;

const keyOf = ({ workspaceId, scope, scopeId, unit }: MeterName): string =>
  `${workspaceId} ${scope} ${scopeId} ${unit}`;

export class Exchange {
  private readonly send: SendAsks;
  private readonly meters = new Map<string, Meter>();
  /** Meters with something to send, and their keys. Keyed by meter: a call may hold one that `heartbeat` dropped, beside its successor. */
  private readonly touched = new Map<Meter, string>();
  /** Meters whose waiting calls are retried after `retryMs`; calls that arrive meanwhile wait with them. */
  private readonly retrying = new Set<Meter>();
  private flying = false;
  private settling = false;

  constructor(send: SendAsks) {
    this.send = send;
  }

  meterOf(name: MeterName): Meter {
    const key = keyOf(name);
    let meter = this.meters.get(key);
    if (meter === undefined) this.meters.set(key, (meter = new Meter(name)));
    return meter;
  }

  /** Takes `amount` at once and returns undefined, or resolves later. A `Short` is a refusal. @throws GatewayError (rejects) */
  take(
    meter: Meter,
    amount: number,
    limit: number,
  ): Short | Promise<Short | undefined> | undefined {
    const nowMs = performance.now();
    if (meter.takes(amount, limit, nowMs)) return undefined;
    const refusal = meter.refusal(amount, nowMs);
    if (refusal !== undefined) return refusal;
    return new Promise((resolve, reject) => {
      meter.waiting.push({ amount, sinceMs: nowMs, resolve, reject });
      if (!this.retrying.has(meter)) this.touch(meter);
    });
  }

  /** Corrects the amount that was taken in second `step`; below zero gives back. */
  give(meter: Meter, step: number, amount: number): void {
    if (amount === 0) return;
    meter.give(step, amount);
    this.touch(meter);
  }

  /** Renews the leases of running calls, resends corrections of failed queries, and drops idle meters. */
  heartbeat(): void {
    const nowMs = performance.now();
    for (const [key, meter] of this.meters)
      if (meter.running > 0 || meter.owes) this.touch(meter);
      else if (meter.isForgotten(nowMs)) this.meters.delete(key);
  }

  now(): number {
    return performance.now();
  }

  private touch(meter: Meter): void {
    this.touched.set(meter, keyOf(meter.name));
    if (this.flying) return;
    this.flying = true;
    setImmediate(() => void this.fly());
  }

  private async fly(): Promise<void> {
    while (this.touched.size > 0) await this.ask();
    this.flying = false;
    this.settleLater();
  }

  /** Returns the next meters to send, sorted by key: all gateways lock them in this order. */
  private collect(): Meter[] {
    const next = [...this.touched].sort(([, one], [, other]) =>
      one < other ? -1 : Number(one > other),
    );
    return next.slice(0, asksMax).map(([meter]) => {
      this.touched.delete(meter);
      return meter;
    });
  }

  private async ask(): Promise<void> {
    const nowMs = performance.now();
    const asked = this.collect().map((meter) => ({
      meter,
      count: meter.waiting.length,
      ask: meter.ask(nowMs),
    }));
    try {
      const answers = await this.send(asked.map(({ ask }) => ask));
      asked.forEach(({ meter, count }, index) => {
        meter.answered(count, answers[index]!, performance.now());
        if (meter.isPatient) this.retryLater(meter);
        else if (meter.waiting.length > 0) this.touch(meter);
      });
    } catch (error) {
      for (const { meter, count, ask } of asked) {
        meter.failed(count, error, ask);
        if (meter.waiting.length > 0) this.touch(meter);
      }
    }
  }

  private retryLater(meter: Meter): void {
    if (this.retrying.has(meter)) return;
    this.retrying.add(meter);
    setTimeout(() => {
      this.retrying.delete(meter);
      this.touch(meter);
    }, retryMs).unref();
  }

  private settleLater(): void {
    if (this.settling || ![...this.meters.values()].some(({ free }) => free > 0)) return;
    this.settling = true;
    setTimeout(() => {
      this.settling = false;
      const nowMs = performance.now();
      for (const meter of this.meters.values()) if (meter.settle(nowMs)) this.touch(meter);
      this.settleLater();
    }, settleEveryMs).unref();
  }
}
