/** Runs many histories concurrently on one database, and reports those that failed, shrunk if wanted. */
import type { Adapter } from "./adapter.ts";
import { ending } from "./ending.ts";
import { History } from "./history.ts";
import { operate } from "./operations.ts";
import { planOf, shrink, type Plan } from "./plan.ts";
import { Choices } from "./random.ts";
import { setUp } from "./set-up.ts";
import { ModelDatabase } from "./world.ts";

export interface Failure {
  readonly seed: number;
  readonly why: string;
  /** The steps of the history, after shrinking. */
  readonly steps: readonly string[];
}

export interface Outcome {
  readonly histories: number;
  readonly failures: readonly Failure[];
  readonly counts: Readonly<Record<string, number>>;
}

export interface RunOptions {
  readonly url: string;
  readonly adapter: Adapter;
  readonly firstSeed: number;
  readonly histories: number;
  /** Histories that run concurrently. */
  readonly abreast: number;
  /** The run ends after this number of failures. */
  readonly failuresMax: number;
  /** Shrinks failing histories, which takes many times as long. */
  readonly shrinks?: boolean;
  readonly onProgress?: (done: number) => void;
}

let serial = 0;

async function runOne(
  world: ModelDatabase,
  adapter: Adapter,
  plan: Plan,
): Promise<{ history: History; why: string | undefined }> {
  const prefix = `s${plan.seed}x${(serial += 1)}`;
  const history = new History({ world, adapter, prefix });
  try {
    history.isCalm = plan.isCalm;
    await setUp(history, new Choices(plan.world));
    for (const operation of plan.operations) await operate(history, operation);
    await ending(history);
    return { history, why: undefined };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { history, why: why.replaceAll(prefix, "") };
  }
}

/** Further failures are mostly of the same kind. */
const failuresShown = 3;

/** The failure without its numbers, to compare failures. */
const kindOf = (why: string | undefined): string | undefined => why?.replaceAll(/\d+/g, "0");

async function shrunk({ url, adapter }: RunOptions, seed: number): Promise<Failure> {
  const world = await ModelDatabase.open(url);
  const first = await runOne(world, adapter, planOf(seed));
  if (first.why === undefined) return { seed, why: "not when it ran again", steps: [] };
  const plan = await shrink(
    planOf(seed),
    async (smaller) => kindOf((await runOne(world, adapter, smaller)).why) === kindOf(first.why),
  );
  const { why, history } = await runOne(world, adapter, plan);
  await world.close();
  return { seed, why: why ?? "", steps: history.steps };
}

/** Runs the histories of `firstSeed` and the following seeds. */
export async function runHistories(options: RunOptions): Promise<Outcome> {
  const { adapter, firstSeed, histories, failuresMax } = options;
  const failed: { seed: number; why: string }[] = [];
  const counts: Record<string, number> = {};
  let next = firstSeed;
  let done = 0;
  const lane = async () => {
    const world = await ModelDatabase.open(options.url);
    while (next < firstSeed + histories && failed.length < failuresMax) {
      const seed = next;
      next += 1;
      const { history, why } = await runOne(world, adapter, planOf(seed));
      if (why !== undefined) failed.push({ seed, why });
      for (const [name, count] of Object.entries(history.counts))
        counts[name] = (counts[name] ?? 0) + count;
      done += 1;
      options.onProgress?.(done);
    }
    await world.close();
  };
  await Promise.all(Array.from({ length: options.abreast }, lane));
  const failures: Failure[] = [];
  for (const { seed, why } of failed.slice(0, failuresShown))
    failures.push(
      options.shrinks === false ? { seed, why, steps: [] } : await shrunk(options, seed),
    );
  return { histories: done, failures, counts };
}
