/**
 * What happens in a history, all of it from one seed. Each operation carries the numbers that its choices are made from, so that
 * the others do the same when one is left out: that is how a failing history is made smaller.
 */
import { randomOf } from "./random.ts";

/** What may happen, and how often. */
const weights = {
  begin: 30,
  /** A few calls one after the other, to which nothing happens: what makes a key busy enough for headroom. */
  serve: 2,
  /** Credits fall to what is in use, and a little more. */
  squeeze: 0.5,
  /** A key is used while something changes that nobody hears of. */
  drift: 0.3,
  end: 20,
  /** A lane's batch reaches the database, and its answer the lane, or either is lost. */
  deliver: 30,
  /** A sending that was given up reaches the database after all. */
  straggler: 3,
  hold: 3,
  settle: 2.5,
  caps: 1.6,
  credits: 1.4,
  key: 1.2,
  workspace: 0.4,
  /** A change becomes known to a gateway that has not heard of it. */
  signal: 2,
  die: 0.8,
  /** A gateway stands still until its lease is over. */
  pause: 0.8,
  /** Somebody looks for leases that are over. */
  sweep: 2,
  /** A gateway renews its lease. */
  beat: 1,
  /** Somebody else locks an account for a while. */
  lock: 0.8,
  tick: 12,
} as const;

export type OperationKind = keyof typeof weights;

/** In a calm history little goes wrong: there is time for calls that are let in from memory, and for changes meanwhile. */
const calmWeights: Record<OperationKind, number> = {
  ...weights,
  straggler: 0.5,
  hold: 1.5,
  settle: 1.5,
  caps: 2.5,
  credits: 1,
  key: 2.5,
  workspace: 0.6,
  begin: 25,
  serve: 10,
  squeeze: 3,
  drift: 3,
  signal: 1,
  die: 0.1,
  pause: 0.2,
  sweep: 0.2,
  lock: 0.1,
  beat: 0.3,
  tick: 14,
};

export interface Operation {
  readonly kind: OperationKind;
  readonly numbers: readonly number[];
}

export interface Plan {
  readonly seed: number;
  readonly isCalm: boolean;
  /** What the world is made from. */
  readonly world: readonly number[];
  readonly operations: readonly Operation[];
}

const kinds = Object.keys(weights) as OperationKind[];

function kindAt(share: number, from: Record<OperationKind, number>): OperationKind {
  let left = share * kinds.reduce((sum, kind) => sum + from[kind], 0);
  for (const kind of kinds) {
    left -= from[kind];
    if (left < 0) return kind;
  }
  return "tick";
}

/** The history of a seed: always the same one. */
export function planOf(seed: number): Plan {
  const random = randomOf(seed);
  const numbers = (count: number) => Array.from({ length: count }, random);
  const isCalm = random() < 0.4;
  const world = numbers(200);
  const operations = Array.from({ length: 10 + Math.floor(random() * 50) }, () => ({
    kind: kindAt(random(), isCalm ? calmWeights : weights),
    numbers: numbers(20),
  }));
  return { seed, isCalm, world, operations };
}

/** Leaves out operations as long as `fails` says that it still fails: first many at once, then one by one. */
export async function shrink(plan: Plan, fails: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  let best = plan;
  for (let size = Math.ceil(plan.operations.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < best.operations.length;) {
      const operations = best.operations.toSpliced(at, size);
      const smaller = { ...best, operations };
      if (await fails(smaller)) best = smaller;
      else at += size;
    }
  }
  return best;
}
