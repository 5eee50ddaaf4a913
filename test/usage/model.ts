/**
 * Calls as a plain list, for comparison: the ledger's charges and the log's rows. It computes the expected usage for any
 * question, call by call in BigInt, and shares no code with the sums.
 */
import type { Granularity, UsageGroup } from "../../src/base/management.ts";
import { idTime } from "../../src/base/ids.ts";
import type { RequestLog } from "../../src/request-log/index.ts";
import type { Database } from "../../src/storage/index.ts";

export interface LogRow {
  readonly id: string;
  readonly key: string;
  readonly atMs: number;
  readonly costNano: bigint;
  readonly model: string;
  readonly provider: string;
  readonly status: "succeeded" | "failed" | "client_closed";
  readonly errorCode: string;
  readonly input: number;
  readonly tookMs: number;
  /** The value of the tag `team`. */
  readonly team?: string | undefined;
}

interface Charge {
  readonly id: string;
  readonly key: string;
  readonly atMs: number;
  readonly costNano: bigint;
}

export const keyNames = ["k1", "k2", "k3", "k4"] as const;
/** Keys by workspace and owner; the last one belongs to the admin token. */
export const keysOf: Readonly<Record<string, { workspace: string; member: string }>> = {
  k1: { workspace: "w1", member: "m1" },
  k2: { workspace: "w1", member: "m2" },
  k3: { workspace: "w2", member: "m1" },
  k4: { workspace: "w2", member: "" },
};

export interface Question {
  readonly fromMs: number;
  readonly toMs: number;
  readonly granularity: Granularity;
  readonly groupBy?: UsageGroup;
  /** True to group by the tag `team` instead. */
  readonly byTeam?: boolean;
  readonly timeZone?: string;
  readonly equal?: Readonly<Record<string, string>>;
}

interface Sum {
  requests: number;
  errors: number;
  input: number;
  cost: bigint;
}

const hourMs = 3_600_000;
/** Days begin at a quarter of an hour in every zone. */
const quarterMs = hourMs / 4;

const calendars = new Map<string, (quarter: number) => string>();

/** The calendar of a time zone: returns the day, such as `2026-10-25`, of a quarter of an hour since 1970. */
function calendarOf(timeZone: string): (quarter: number) => string {
  const known = calendars.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" });
  const days = new Map<number, string>();
  const dayOf = (quarter: number): string => {
    const day = days.get(quarter) ?? format.format(quarter * quarterMs);
    days.set(quarter, day);
    return day;
  };
  calendars.set(timeZone, dayOf);
  return dayOf;
}

function startOf(ms: number, { granularity, timeZone = "UTC", fromMs }: Question): string {
  if (granularity === "total") return new Date(fromMs).toISOString();
  if (granularity === "hour") return new Date(Math.floor(ms / hourMs) * hourMs).toISOString();
  let quarter = Math.floor(ms / quarterMs);
  const dayOf = calendarOf(timeZone);
  const partOf = (at: number): string => dayOf(at).slice(0, granularity === "day" ? 10 : 7);
  const part = partOf(quarter);
  while (partOf(quarter - 1) === part) quarter -= 1;
  return new Date(quarter * quarterMs).toISOString();
}

/** A call's values of the columns that usage can be asked for. */
function columnsOf(key: string, row: LogRow | undefined): Record<string, string> {
  const { workspace, member } = keysOf[key]!;
  const { model = "", provider = "", status = "", errorCode = "", team = "" } = row ?? {};
  const protocol = row === undefined ? "" : "chat";
  return {
    workspace_id: workspace,
    member_id: member,
    key_id: key,
    model,
    provider,
    protocol,
    status,
    error_code: errorCode,
    team,
  };
}

function fits(
  { equal = {}, fromMs, toMs }: Question,
  atMs: number,
  of: Record<string, string>,
): boolean {
  if (atMs < fromMs || atMs >= toMs) return false;
  return Object.entries(equal).every(([name, value]) => of[name] === value);
}

/** All calls so far, in the database and in memory. */
export class Calls {
  readonly #charges: Charge[] = [];
  readonly #log = new Map<string, LogRow>();
  readonly #database: Database;
  readonly #requestLog: RequestLog;
  #count = 0;

  constructor(database: Database, requestLog: RequestLog) {
    this.#database = database;
    this.#requestLog = requestLog;
  }

  id(atMs: number): string {
    this.#count += 1;
    return `req_${idTime(atMs)}${String(this.#count).padStart(16, "0")}`;
  }

  /** Inserts one entry, in its workspace's order. `late`: the call had outlived its hold. */
  async charge(charge: Charge, late = false): Promise<void> {
    const { workspace, member } = keysOf[charge.key]!;
    this.#charges.push(charge);
    await this.#database.query(
      `insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano, key_id, member_id, created_at)
       values ($1, $2, 'charge', $3, 0, 0, $4, $5, $6)`,
      [
        workspace,
        charge.id + (late ? ":late" : ""),
        charge.costNano,
        charge.key,
        member || null,
        new Date(charge.atMs),
      ],
    );
  }

  async log(row: LogRow): Promise<void> {
    this.#log.set(row.id, row);
    this.#requestLog.add({
      workspaceId: keysOf[row.key]!.workspace,
      id: row.id,
      createdAt: new Date(row.atMs),
      keyId: row.key,
      model: row.model,
      provider: row.provider,
      protocol: "chat",
      status: row.status,
      httpStatus: row.errorCode === "" ? 200 : 503,
      usage: { inputTokens: row.input },
      costNano: row.costNano,
      durationMs: row.tookMs,
      tags: row.team === undefined ? undefined : { team: row.team, other: "x" },
      explanation: row.errorCode === "" ? { plan: {} } : { plan: {}, error: row.errorCode },
    });
    await this.#requestLog.flush();
  }

  /** The expected answer, by start and group. */
  answer(question: Question): Record<string, Sum> {
    const sums: Record<string, Sum> = {};
    const add = (key: string, atMs: number, cost: bigint, row: LogRow | undefined): void => {
      const of = columnsOf(key, row);
      if (!fits(question, atMs, of)) return;
      const groupBy = question.byTeam === true ? "team" : question.groupBy;
      const group = groupBy === undefined ? "" : (of[groupBy] ?? of[`${groupBy}_id`]!);
      const sum = (sums[`${startOf(atMs, question)} ${group}`] ??= {
        requests: 0,
        errors: 0,
        input: 0,
        cost: 0n,
      });
      sum.requests += 1;
      sum.errors += row?.status === "failed" ? 1 : 0;
      sum.input += row?.input ?? 0;
      sum.cost += cost;
    };
    const charged = new Set(this.#charges.map(({ id }) => id));
    for (const { id, key, atMs, costNano } of this.#charges)
      add(key, atMs, costNano, this.#log.get(id));
    for (const row of this.#log.values())
      if (row.costNano === 0n && !charged.has(row.id)) add(row.key, row.atMs, 0n, row);
    return sums;
  }
}
