/** Replays the entries of a workspace one by one: a second implementation of the counting rule, for `verify`. */
import { getOrCreate } from "../base/memoize.ts";

export interface EntryRow {
  readonly workspace_id: string;
  readonly entry: bigint;
  readonly kind: "credit" | "charge" | "void" | "expire";
  readonly amount_nano: bigint;
  readonly balance_after_nano: bigint;
  readonly key_id: string | null;
  readonly member_id: string | null;
  /** Numeric, as text. */
  readonly at_ms: string;
}

/** Counters as stored in the database; `name` is the layer and its id. */
export interface Counted {
  readonly name: string;
  readonly total: string;
  readonly monthly: string;
  readonly weekly: string;
  readonly daily: string;
  /** A date, or `-infinity` if nothing was ever charged. */
  readonly last: string;
}

const dayMs = 86_400_000;

/** First day of each period that contains a day, as day numbers. */
interface Periods {
  readonly monthly: number;
  readonly weekly: number;
  readonly daily: number;
}

function periodsOf(day: number): Periods {
  const date = new Date(day * dayMs);
  return {
    monthly: day - date.getUTCDate() + 1,
    weekly: day - ((date.getUTCDay() + 6) % 7),
    daily: day,
  };
}

const windows = ["monthly", "weekly", "daily"] as const;
type Counters = Record<(typeof windows)[number], bigint>;

interface Scope {
  total: bigint;
  lastDay: number;
  /** Sums by the counting rule: a charge counts in the latest period seen so far. */
  readonly inOrder: Counters;
  /**
   * Sums by the time of the charges alone. Lower than `inOrder` if the clock went back across the start of a period. Earlier versions,
   * in which each gateway used its own clock, counted this way.
   */
  readonly byTime: Counters;
}

export interface Comparison {
  readonly window: string;
  readonly recorded: bigint;
  readonly least: bigint;
  readonly most: bigint;
}

function emptyScope(): Scope {
  const nothing = { monthly: 0n, weekly: 0n, daily: 0n };
  return { total: 0n, lastDay: -Infinity, inOrder: { ...nothing }, byTime: { ...nothing } };
}

export class Replay {
  readonly workspaceId: string;
  credits = 0n;
  charged = 0n;
  private readonly byName = new Map<string, Scope>();
  private day = 0;
  private periods = periodsOf(0);

  constructor(workspaceId: string) {
    this.workspaceId = workspaceId;
  }

  get balance(): bigint {
    return this.credits - this.charged;
  }

  /** Adds an entry and returns the balance after it. */
  add({ kind, amount_nano: amount, key_id, member_id, at_ms }: EntryRow): bigint {
    if (kind === "credit") this.credits += amount;
    if (kind !== "charge") return this.balance;
    this.charged += amount;
    if (amount === 0n) return this.balance;
    const day = Math.floor(Number(at_ms) / dayMs);
    if (day !== this.day) {
      this.day = day;
      this.periods = periodsOf(day);
    }
    this.count(`workspace ${this.workspaceId}`, amount);
    if (member_id !== null) this.count(`member ${member_id}`, amount);
    if (key_id !== null) this.count(`key ${key_id}`, amount);
    return this.balance;
  }

  scopes(): Iterable<string> {
    return this.byName.keys();
  }

  totalOf(name: string): bigint {
    return this.byName.get(name)?.total ?? 0n;
  }

  /**
   * Returns the allowed range of each counter: from the sum by time to the sum by rule. They are equal unless a clock went back.
   * Earlier versions recorded a charge of 0 as the latest one. If such a charge began a period, that period's sum is 0.
   */
  compare(counted: Counted): Comparison[] {
    const scope = this.byName.get(counted.name);
    const total = scope?.total ?? 0n;
    const lastDay = scope?.lastDay ?? -Infinity;
    const recordedDay = counted.last === "-infinity" ? -Infinity : Date.parse(counted.last) / dayMs;
    const begins = Number.isFinite(recordedDay) ? periodsOf(recordedDay) : undefined;
    // Skip the total of a workspace: it equals the charged sum of its account.
    const totals = counted.name.startsWith("workspace ")
      ? []
      : [{ window: "total", recorded: BigInt(counted.total), least: total, most: total }];
    return [
      ...totals,
      ...windows.map((window) => {
        const over = begins !== undefined && begins[window] > lastDay;
        const least = over ? 0n : (scope?.byTime[window] ?? 0n);
        const most = over ? 0n : (scope?.inOrder[window] ?? 0n);
        return { window, recorded: BigInt(counted[window]), least, most };
      }),
    ];
  }

  private count(name: string, amount: bigint): void {
    const scope = getOrCreate(this.byName, name, emptyScope);
    scope.total += amount;
    const last = Number.isFinite(scope.lastDay) ? periodsOf(scope.lastDay) : undefined;
    for (const window of windows) {
      const begins = this.periods[window];
      const continues = scope.lastDay >= begins;
      scope.inOrder[window] = amount + (continues ? scope.inOrder[window] : 0n);
      if (!continues) scope.byTime[window] = amount;
      else if (last?.[window] === begins) scope.byTime[window] += amount;
    }
    scope.lastDay = Math.max(scope.lastDay, this.day);
  }
}
