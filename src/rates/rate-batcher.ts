/**
 * The meters in use in this process, and the sequence of queries about them. One query is in flight at a time; calls that arrive meanwhile
 * wait for the next one. docs/limits.md.
 */
import { Meter, type Denied } from "./meter.ts";
import type { MeterName, SendGrantRequests } from "./take.ts";

/** Limits in one query, at most. */
const requestsMax = 500;
/** Delay, in ms, after which waiting calls are retried under a limit of calls at once. */
const retryMs = 20;
/** Interval, in ms, at which unused grants are given back. */
const settleEveryMs = 250;

const keyOf = ({ workspaceId, scope, scopeId, unit }: MeterName): string =>
  `${workspaceId} ${scope} ${scopeId} ${unit}`;

export class RateBatcher {
  private readonly send: SendGrantRequests;
  private readonly meters = new Map<string, Meter>();
  /** Meters with something to send, and their keys. Keyed by meter: a call may hold one that `heartbeat` dropped, beside its successor. */
  private readonly pending = new Map<Meter, string>();
  /** Meters whose waiting calls are retried after `retryMs`; calls that arrive meanwhile wait with them. */
  private readonly retrying = new Set<Meter>();
  /** Meters with corrections of a failed query: `heartbeat` resends them, also of those that it dropped meanwhile. */
  private readonly unsent = new Set<Meter>();
  private isSending = false;
  private settling = false;

  constructor(send: SendGrantRequests) {
    this.send = send;
  }

  meterOf(name: MeterName): Meter {
    const key = keyOf(name);
    let meter = this.meters.get(key);
    if (meter === undefined) this.meters.set(key, (meter = new Meter(name)));
    return meter;
  }

  /** Takes `amount` at once and returns undefined, or resolves later. A `Denied` is a refusal. @throws GatewayError (rejects) */
  take(
    meter: Meter,
    amount: number,
    limit: number,
  ): Denied | Promise<Denied | undefined> | undefined {
    const nowMs = performance.now();
    if (meter.tryTake(amount, limit, nowMs)) return undefined;
    const refusal = meter.refusal(amount, nowMs);
    if (refusal !== undefined) return refusal;
    return new Promise((resolve, reject) => {
      meter.waiting.push({ amount, sinceMs: nowMs, resolve, reject });
      if (!this.retrying.has(meter)) this.enqueue(meter);
    });
  }

  /** Corrects the amount that was taken in second `step`; below zero gives back. */
  correct(meter: Meter, step: number, amount: number): void {
    if (amount === 0) return;
    meter.correct(step, amount);
    this.enqueue(meter);
  }

  /** Renews the leases of running calls, resends corrections of failed queries, and drops idle meters. */
  heartbeat(): void {
    const nowMs = performance.now();
    for (const meter of this.unsent) this.enqueue(meter);
    this.unsent.clear();
    for (const [key, meter] of this.meters)
      if (meter.running > 0) this.enqueue(meter);
      else if (meter.isForgotten(nowMs)) this.meters.delete(key);
  }

  now(): number {
    return performance.now();
  }

  private enqueue(meter: Meter): void {
    this.pending.set(meter, keyOf(meter.name));
    if (this.isSending) return;
    this.isSending = true;
    setImmediate(() => void this.sendAll());
  }

  private async sendAll(): Promise<void> {
    while (this.pending.size > 0) await this.ask();
    this.isSending = false;
    this.settleLater();
  }

  /** Returns the meters that wait the longest, sorted by key: all gateways lock them in this order. */
  private collect(): Meter[] {
    const next = [...this.pending].slice(0, requestsMax);
    next.sort(([, one], [, other]) => (one < other ? -1 : Number(one > other)));
    return next.map(([meter]) => {
      this.pending.delete(meter);
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
        if (meter.shouldRetry) this.retryLater(meter);
        else if (meter.waiting.length > 0) this.enqueue(meter);
      });
    } catch (error) {
      for (const { meter, count, ask } of asked) {
        meter.failed(count, error, ask);
        if (meter.hasCorrections) this.unsent.add(meter);
        if (meter.waiting.length > 0) this.enqueue(meter);
      }
    }
  }

  private retryLater(meter: Meter): void {
    if (this.retrying.has(meter)) return;
    this.retrying.add(meter);
    setTimeout(() => {
      this.retrying.delete(meter);
      this.enqueue(meter);
    }, retryMs).unref();
  }

  private settleLater(): void {
    if (this.settling || ![...this.meters.values()].some(({ free }) => free > 0)) return;
    this.settling = true;
    setTimeout(() => {
      this.settling = false;
      const nowMs = performance.now();
      for (const meter of this.meters.values()) if (meter.settle(nowMs)) this.enqueue(meter);
      this.settleLater();
    }, settleEveryMs).unref();
  }
}
