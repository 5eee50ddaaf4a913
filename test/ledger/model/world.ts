/**
 * The database of the histories: the real schema on a real server, with many workspaces. The history sets the database's clock:
 * `ledger_now` reads it from a setting. Nothing is synced to disk.
 */
import { Client, types } from "pg";
import type { Adapter, KeyName, Row } from "./adapter.ts";
import type { CapsOf, KeyState } from "./oracle.ts";

/** Totals of a history's workspaces. Amounts are small here, so they are plain numbers. */
export interface State {
  readonly accounts: { w: string; credits: number; charged: number; held: number }[];
  readonly allowances: { w: string; k: string; r: number; gateway: string; amount: number }[];
  readonly held: { w: string; amount: number }[];
  readonly charged: { w: string; amount: number }[];
}

/** The state at the end, with every entry and every counter. */
export interface FinalState extends State {
  readonly entries: { w: string; id: string; kind: string; amount: number }[];
  /** Counters with the day of the last charge, as YYYY-MM-DD. */
  readonly spend: {
    w: string;
    scope: string;
    id: string;
    total: number;
    monthly: number;
    weekly: number;
    daily: number;
    day: string;
  }[];
}

/** Prepares a database once, before any history runs on it. */
export async function prepare(url: string, adapter: Adapter): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("create schema model");
  await client.query(adapter.stateSql);
  await client.end();
}

/** Reads int8[] as bigints, like the gateway's own connections. */
const bigints = (text: string) =>
  text
    .slice(1, -1)
    .split(",")
    .map((item) => (item === "NULL" ? null : BigInt(item)));
// The driver's declaration only takes an enumeration of types.
const parserOf = types.getTypeParser as unknown as (oid: number, format?: "text") => unknown;
const parsers = new Map<number, (text: string) => unknown>([
  [20, BigInt],
  [1016, bigints],
]);

const quote = (value: string | number | boolean | null): string =>
  value === null ? "null" : typeof value === "string" ? `'${value}'` : String(value);

/** One connection, used by one history at a time. */
export class ModelDatabase {
  readonly #client: Client;
  readonly #url: string;
  #locker: Client | undefined;
  #nowMs = 0;
  constructor(client: Client, url: string) {
    this.#client = client;
    this.#url = url;
  }

  static async open(url: string): Promise<ModelDatabase> {
    const client = new Client({
      connectionString: url,
      options: "-c synchronous_commit=off -c statement_timeout=60000",
      types: {
        getTypeParser: ((oid: number, format?: "text") =>
          parsers.get(oid) ?? parserOf(oid, format)) as typeof types.getTypeParser,
      },
    });
    await client.connect();
    return new ModelDatabase(client, url);
  }

  async close(): Promise<void> {
    await this.#client.end();
    await this.#locker?.end();
  }

  /** Runs `work` while another connection has locked the accounts of these workspaces. */
  async whileLocked<T>(workspaces: readonly string[], work: () => Promise<T>): Promise<T> {
    if (workspaces.length === 0) return work();
    if (this.#locker === undefined) {
      this.#locker = new Client({ connectionString: this.#url });
      await this.#locker.connect();
    }
    const which = `workspace_id = any(${namesList(workspaces)})`;
    await this.#locker.query(`begin; select from ledger_accounts where ${which} for update`);
    try {
      return await work();
    } finally {
      await this.#locker.query("rollback");
    }
  }

  /** Sets the time for the following transactions. */
  setClock(nowMs: number): void {
    this.#nowMs = nowMs;
  }

  /** Runs statements in one transaction. Returns the rows of each. */
  async run(...statements: string[]): Promise<Row[][]> {
    const at = new Date(this.#nowMs).toISOString();
    const text = [`select set_config('model.now', '${at}', false)`, ...statements].join(";\n");
    const results = (await this.#client.query(text)) as unknown as { rows: Row[] }[];
    return results.slice(1).map(({ rows }) => rows);
  }
}

export const namesList = (names: readonly string[]): string => `'{${names.join(",")}}'::text[]`;

export function capsSql(scope: string, place: KeyName, caps: CapsOf): string {
  const set = `cap_total_nano = ${caps.total}, cap_monthly_nano = ${caps.monthly},
    cap_weekly_nano = ${caps.weekly}, cap_daily_nano = ${caps.daily}, cap_hard = ${caps.hard}`;
  const { workspace, member, key } = place;
  if (scope === "workspace") return `update workspaces set ${set} where id = '${workspace}'`;
  return scope === "member"
    ? `update members set ${set} where workspace_id = '${workspace}' and user_id = '${member}'`
    : `update api_keys set ${set} where workspace_id = '${workspace}' and id = '${key}'`;
}

const time = (ms: number | null): string | null =>
  ms === null ? null : new Date(ms).toISOString();

export function keySql({ workspace, key }: KeyName, state: KeyState): string {
  const previous =
    state.previousMs === null
      ? "previous_lookup = null"
      : `previous_lookup = convert_to('previous/' || workspace_id || '/' || id, 'utf8')`;
  return `update api_keys set status = ${quote(state.status)}, expires_at = ${quote(time(state.expiresMs))},
    rotations = ${state.rotations}, previous_expires_at = ${quote(time(state.previousMs))}, ${previous}
    where workspace_id = '${workspace}' and id = '${key}'`;
}

export const workspaceSql = (id: string): string =>
  `insert into workspaces (id, name) values ('${id}', '${id}')`;

export const memberSql = (workspace: string, id: string): string =>
  `insert into members (workspace_id, user_id) values ('${workspace}', '${id}')`;

export const newKeySql = ({ workspace, key, member }: KeyName): string =>
  `insert into api_keys (workspace_id, id, name, lookup, key_prefix, key_last4, created_by)
   values ('${workspace}', '${key}', '${key}', convert_to('${workspace}/${key}', 'utf8'), 'gw_', 'last', '${member}')`;
