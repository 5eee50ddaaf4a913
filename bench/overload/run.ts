/**
 * `npm run bench -- --overload`: a gateway with twice the calls that it can take. First it measures the capacity, and latencies at
 * half of it, then twice the capacity for `--seconds`, then half again, to see when latencies are normal.
 */
import { quantile } from "../figures.ts";
import { drive, type LoadTarget } from "../load/drive.ts";
import { drivePaced, type Second } from "../load/paced.ts";
import { targetOf } from "../load/requests.ts";
import { root, withBench } from "../run.ts";
import { chooseScenarios } from "../scenarios.ts";
import { startTollgate } from "../subjects/tollgate.ts";
import { startUpstream } from "../upstream/index.ts";

interface OverloadOptions {
  /** Seconds of overload. */
  readonly seconds: number;
  /** The name of a scenario of whole answers, for the calls. */
  readonly scenario: string;
}

/** The results of one phase. */
export interface Phase {
  readonly askedPerSecond: number;
  readonly servedPerSecond: number;
  readonly refusedPerSecond: number;
  readonly servedMedianMs: number;
  readonly servedP99Ms: number;
  readonly refusedMedianMs: number;
  readonly refusedP99Ms: number;
  /** Calls that were neither answered nor refused with 503 and `Retry-After`. */
  readonly failures: number;
}

export interface OverloadReport {
  /** Answers per second with all connections busy. */
  readonly capacity: number;
  readonly providerMs: number;
  readonly normal: Phase;
  readonly overload: Phase;
  readonly after: Phase;
  /** Seconds after the overload until no call is refused any more, and each second's p99 is within three times the normal one. */
  readonly recoveredInSeconds: number;
}

/** Milliseconds of the upstream's answer, as of a quick model. */
const providerMs = 300;
/** The most seconds of each other phase; none is longer than the overload. */
const phaseSecondsMax = 15;
const connections = 128;
/** Clients keep connections open: as many as calls in flight if each call takes this many seconds. */
const connectionsSeconds = 1;

/** Rejects when a process does not start, or when the signal fires. */
export const measureOverload = (
  { seconds, scenario: name }: OverloadOptions,
  signal: AbortSignal,
): Promise<OverloadReport> =>
  withBench(async ({ closers, say, createDatabase }) => {
    const upstream = await startUpstream({});
    closers.push(() => upstream.close());
    const scenarios = chooseScenarios([name]);
    const around = { upstreamUrl: upstream.url, scenarios, createDatabase, signal };
    const gateway = await startTollgate({ name: "Tollgate", root, database: "embedded" }, around);
    closers.push(() => gateway.close());
    const target: LoadTarget = targetOf(gateway, scenarios[0]!)!;
    const short = Math.min(seconds, phaseSecondsMax);
    await drive(target, { connections, seconds: short, signal });
    const busy = await drive(target, { connections, seconds: short, signal });
    const capacity = busy.answers / busy.seconds;
    say(`it can take ${Math.round(capacity)} calls a second`);
    upstream.delay(providerMs);
    const phase = (share: number, long: number): Promise<Second[]> => {
      say(`${Math.round(capacity * share)} calls a second for ${long} s`);
      const perSecond = capacity * share;
      const open = Math.ceil(perSecond * connectionsSeconds);
      return drivePaced(target, { perSecond, seconds: long, connections: open, signal });
    };
    await phase(0.5, short);
    const normal = phaseOf(await phase(0.5, short), capacity / 2);
    const overload = phaseOf(await phase(2, seconds), capacity * 2);
    const after = await phase(0.5, short);
    return {
      capacity,
      providerMs,
      normal,
      overload,
      after: phaseOf(after, capacity / 2),
      recoveredInSeconds: recoveredIn(after, normal.servedP99Ms * 3),
    };
  });

function phaseOf(seconds: readonly Second[], askedPerSecond: number): Phase {
  const served = joined(seconds.map(({ servedMs }) => servedMs));
  const refused = joined(seconds.map(({ refusedMs }) => refusedMs));
  return {
    askedPerSecond,
    servedPerSecond: served.length / seconds.length,
    refusedPerSecond: refused.length / seconds.length,
    servedMedianMs: quantile(served, 0.5),
    servedP99Ms: quantile(served, 0.99),
    refusedMedianMs: quantile(refused, 0.5),
    refusedP99Ms: quantile(refused, 0.99),
    failures: seconds.reduce((sum, second) => sum + second.failures, 0),
  };
}

function joined(lists: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    at += list.length;
  }
  return all.sort();
}

function recoveredIn(seconds: readonly Second[], p99MsMax: number): number {
  const isWell = ({ servedMs, refusedMs, failures }: Second): boolean =>
    refusedMs.length === 0 && failures === 0 && quantile(servedMs, 0.99) <= p99MsMax;
  return seconds.findLastIndex((second) => !isWell(second)) + 1;
}
