/**
 * The plan of a history, made from one seed. Each operation has the random numbers of its own choices, so that leaving one out
 * does not change the others. That makes a failing history shrinkable.
 */
import { randomOf } from "./random.ts";

/** The operations with their relative frequencies. */
const weights = {
  begin: 30,
  /** A few calls in sequence without failures, which make a key busy enough for headroom. */
  serve: 2,
  /** Takes back credits until hardly any are available. */
  squeeze: 0.5,
  /** A key is used while something changes that no gateway hears of. */
  drift: 0.3,
  end: 20,
  /** A lane's batch or its answer arrives or is lost. */
  deliver: 30,
  /** A batch that was given up reaches the database late. */
  straggler: 3,
  hold: 3,
  settle: 2.5,
  caps: 1.6,
  credits: 1.4,
  key: 1.2,
  workspace: 0.4,
  /** A gateway hears of a pending change. */
  signal: 2,
  die: 0.8,
  /** A gateway pauses until its lease is over. */
  pause: 0.8,
  /** A sweeper releases allowances of expired leases. */
  sweep: 2,
  /** A gateway renews its lease. */
  beat: 1,
  /** Another connection locks or unlocks an account. */
  lock: 0.8,
  tick: 12,
} as const;

export type OperationKind = keyof typeof weights;

/** In a calm history little fails, so that more calls are admitted in memory, and changes happen meanwhile. */
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
  /** Random numbers for the set-up. */
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

/** The plan of a seed; the same seed gives the same plan. */
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

/** Removes operations while `fails` returns true, first many at once, then one by one. */
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
