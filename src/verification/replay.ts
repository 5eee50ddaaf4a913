/** What the entries of a workspace come to, one after another: the counting rule once more, for `verify`. */
import { getOrMake } from "../base/made-once.ts";

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

/** Counters as the database has them; `name` is the layer and its id. */
export interface Counted {
  readonly name: string;
  readonly total: string;
  readonly monthly: string;
  readonly weekly: string;
  readonly daily: string;
  /** A date, or `-infinity`: nothing was ever charged. */
  readonly last: string;
}

const dayMs = 86_400_000;

/** The first days of the periods that a day is in, as numbers of days. */
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
  /** By the rule: a charge counts in the latest period there was. */
  readonly inOrder: Counters;
  /**
   * By the time of the charges alone. It is less where the clock went back over the beginning of a period; earlier versions, whose
   * gateways each had a clock, counted so.
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

  /** Answers with the balance after it. */
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
   * What the counters should be: between the sum by time and that by the rule, which are the same where no clock went back. Where the
   * latest charge was one of 0 (which earlier versions noted as the latest), nothing is counted of the periods that began with it.
   */
  compare(counted: Counted): Comparison[] {
    const scope = this.byName.get(counted.name);
    const total = scope?.total ?? 0n;
    const lastDay = scope?.lastDay ?? -Infinity;
    const recordedDay = counted.last === "-infinity" ? -Infinity : Date.parse(counted.last) / dayMs;
    const begins = Number.isFinite(recordedDay) ? periodsOf(recordedDay) : undefined;
    // The total of a workspace is what its account has charged.
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
    const scope = getOrMake(this.byName, name, emptyScope);
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
