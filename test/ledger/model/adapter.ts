/** Only this file of the model names the ledger's functions, tables and lane. */
import { sendTo, type Batch, type BatchRow } from "../../../src/ledger/batch.ts";
import { refusalOf, type Answer } from "../../../src/ledger/refusal.ts";
import type * as GatewaySide from "../../../src/ledger/text-calls.ts";
import { OpenCalls, refusalIn } from "../open-calls.ts";

export interface GatewayOptions {
  /** Sends a batch. Rejects if the answer is lost. No rows: the database already has a later number. */
  readonly send: (sent: Sent) => Promise<readonly Row[]>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly later: (work: () => void, ms: number) => void;
}

export interface KeyName {
  readonly workspace: string;
  readonly key: string;
  readonly rotation: number;
  readonly member: string;
}

/** The gateway's side of the ledger in one process. */
export interface ModelGateway {
  /** Names the gateway in its leases and allowances. */
  readonly id: string;
  /** Resolves with null if the call is admitted, otherwise with the refusal's code. */
  admit(key: KeyName, call: { id: string; bound: number }): Promise<string | null>;
  /** Ends a call; `charge` null: without a charge. Resolves when the entry is written. */
  end(id: string, charge: number | null): Promise<void>;
  /** Tells the gateway that this workspace, its members or keys changed. */
  signal(workspace: string): void;
  heartbeat(): void;
}

/** A batch as it is sent to the database, once. */
export interface Sent {
  readonly sql: string;
  readonly lane: number;
  readonly number: number;
  /** True if the batch skips locked accounts instead of waiting. */
  readonly skipsLocked: boolean;
  readonly keys: readonly Omit<KeyName, "member">[];
  readonly entries: readonly { readonly id: string; readonly place: number }[];
}

export type Row = Record<string, unknown>;

export interface Adapter {
  readonly leaseMs: number;
  createGateway(options: GatewayOptions): ModelGateway;
  /** The ids of the entries that a batch wrote, from its answer. */
  writtenBy(sent: Sent, rows: readonly Row[]): string[];
  /** The keys that the batch served: all but those whose accounts were locked. */
  reachedBy(sent: Sent, rows: readonly Row[]): Sent["keys"];
  holdSql(hold: { id: string; key: KeyName; amount: number; leaseMs: number }): string;
  /** The refusal's code, or null if the hold exists now. */
  refusalOfHold(rows: readonly Row[], amount: number): string | null;
  settleSql(workspace: string, id: string, charge: number | null): string;
  expireSql(gateway: string): string;
  /** Sets the end of a gateway's lease. */
  leaseSql(gateway: string, untilMs: number): string;
  creditSql(workspace: string, amount: number, reference: string): string;
  lineSql(workspace: string, line: number | null): string;
  /** Creates the history's clock, and the functions model.state(text[]) and model.final(text[]), which return json: see world.ts. */
  readonly stateSql: string;
}

const leaseMs = 30_000;

const busyIn = (rows: readonly Row[]): ReadonlySet<unknown> =>
  new Set(rows.filter(({ refusal }) => refusal === "busy").map(({ place }) => place));

function literal(value: string | number | bigint | boolean | null | undefined): string {
  if (value === null || value === undefined) return "null";
  return typeof value === "string" ? `'${value}'` : String(value);
}

/** The batch's statement with its parameters inlined, so that it can be combined with others. */
async function sqlOf(batch: Batch): Promise<string> {
  let text = "";
  await sendTo({
    query(sql, params = []) {
      text = sql.replaceAll(/\$(\d+)/g, (_, place: string) =>
        literal(params[Number(place) - 1] as string | number | null),
      );
      return Promise.resolve([]);
    },
  })(batch);
  // Like the gateway, ignore rows without a place: they only report the state before the batch.
  return `select * from (${text}) sent where place is not null`;
}

function createGateway(
  { TextCalls }: typeof GatewaySide,
  { now, later, send }: GatewayOptions,
): ModelGateway {
  const textCalls = new TextCalls({
    leaseMs,
    clock: { now, later },
    async send(batch) {
      const { lane, number, skipLocked: skipsLocked } = batch;
      const rows = await send({
        lane,
        number,
        skipsLocked,
        sql: await sqlOf(batch),
        keys: batch.targets.map(({ key: { name } }) => ({
          workspace: name.workspaceId,
          key: name.keyId,
          rotation: name.keyRotation,
        })),
        entries: batch.targets.flatMap(({ entries }, index) =>
          entries.map(({ id }) => ({ id, place: index + 1 })),
        ),
      });
      return rows as unknown as readonly BatchRow[];
    },
  });
  const calls = new OpenCalls(textCalls);
  return {
    id: textCalls.gateway,
    async admit({ workspace: workspaceId, key: keyId, rotation: keyRotation }, { id, bound }) {
      const amountNano = BigInt(bound);
      const outcome = await calls.begin({ id, workspaceId, keyId, keyRotation, amountNano });
      return outcome === "reserved" ? null : outcome;
    },
    end: (id, charge) => calls.end(id, charge === null ? null : BigInt(charge)),
    signal: (workspace) => textCalls.invalidate(({ workspaceId }) => workspaceId === workspace),
    heartbeat: () => textCalls.heartbeat(),
  };
}

const list = (columns: string, from: string) =>
  `(select coalesce(json_agg(json_build_object(${columns})), '[]') from ${from})`;

const stateJson = `
  'accounts', ${list(`'w', workspace_id, 'credits', credits_nano, 'charged', charged_nano, 'held', held_nano`, "ledger_accounts where workspace_id = any(p)")},
  'allowances', ${list(`'w', workspace_id, 'k', key_id, 'r', rotation, 'gateway', gateway, 'amount', amount_nano`, "ledger_allowances where workspace_id = any(p)")},
  'held', ${list(`'w', workspace_id, 'amount', amount_nano`, "ledger_holds where workspace_id = any(p)")},
  'charged', ${list(`'w', workspace_id, 'amount', amount_nano`, "ledger_entries where workspace_id = any(p) and kind = 'charge'")}`;

const finalJson = `${stateJson},
  'entries', ${list(`'w', workspace_id, 'id', reference, 'kind', kind, 'amount', amount_nano`, "ledger_entries where workspace_id = any(p)")},
  'spend', ${list(
    `'w', workspace_id, 'scope', scope, 'id', scope_id, 'total', total_nano, 'monthly', month_nano,
    'weekly', week_nano, 'daily', day_nano, 'day', last_day`,
    "ledger_counters where workspace_id = any(p) and last_day > '-infinity'",
  )}`;

/** The adapter of `gatewaySide`, which is the real module or a mutant of it. */
export const adapterOf = (gatewaySide: typeof GatewaySide): Adapter => ({
  leaseMs,
  createGateway: (options) => createGateway(gatewaySide, options),
  writtenBy(sent, rows) {
    const busy = busyIn(rows);
    return sent.entries.filter(({ place }) => !busy.has(place)).map(({ id }) => id);
  },
  reachedBy(sent, rows) {
    const busy = busyIn(rows);
    return sent.keys.filter((_, index) => !busy.has(index + 1));
  },
  holdSql: ({ id, key, amount, leaseMs: ms }) =>
    `select * from ledger_hold('${key.workspace}', '${id}', '${key.key}', ${key.rotation}, 'task', ${amount}, ${ms}, 1000000, 1000000)`,
  refusalOfHold(rows, amount) {
    const row = rows[0];
    if (row === undefined) return null;
    return refusalIn(refusalOf(row as unknown as Answer, BigInt(amount)))!;
  },
  settleSql: (workspace, id, charge) =>
    `select * from ledger_settle('${workspace}', '${id}', ${charge})`,
  expireSql: (gateway) => `select ledger_expire('${gateway}')`,
  leaseSql: (gateway, untilMs) =>
    `update ledger_lanes set lease_until = '${new Date(untilMs).toISOString()}' where gateway = '${gateway}'`,
  creditSql: (workspace, amount, reference) =>
    `select * from ledger_credit('${workspace}', ${amount}, '${reference}', null)`,
  lineSql: (workspace, line) =>
    `update workspaces set credit_line_nano = ${line} where id = '${workspace}'`,
  stateSql: `
    create or replace function ledger_now() returns timestamptz language sql volatile as
      $$ select current_setting('model.now')::timestamptz $$;
    create function model.state(p text[]) returns json language plpgsql as
      $$ begin return json_build_object(${stateJson}); end $$;
    create function model.final(p text[]) returns json language plpgsql as
      $$ begin return json_build_object(${finalJson}); end $$;`,
});
