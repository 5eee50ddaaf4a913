/**
 * The ledger's tests as tables: one line per operation, `->` its result and what is available afterwards. Reservations are holds
 * like those of tasks, so that exactly the requested amount is reserved. The operations:
 *
 * - account W                            a workspace
 * - key K W by M                         an active key of W, created by member M (`by M` may be left out)
 * - cap workspace W daily 5.00 hard      a spend cap of a workspace, member or key; `none` clears it
 * - status K revoked                     a key's (or workspace's) status; `expires K <time>` its expiry
 * - deposit W 10.00 ref -> credited
 * - reserve R K 4.00 [lease 60] -> reserved, available 6.00
 * - post R 1.25 / void R / extend R 60 / expire
 * - at 2026-11-02T23:59:59Z              moves the ledger's clock
 */
import { expect } from "vitest";
import type { Layer } from "../../src/base/cap-windows.ts";
import { formatUsd, parseUsd } from "../../src/base/money.ts";
import {
  extendHolds,
  reserveIn,
  settleIn,
  type HoldInput,
  type QueueLimits,
  type Settled,
} from "../../src/ledger/index.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import type { Database, Queryable } from "../../src/storage/index.ts";
import { refusalIn } from "./open-calls.ts";
import { createLedger, type TestLedger } from "../support/ledger.ts";

const capTables: Record<Layer, { table: string; idColumn: string }> = {
  workspace: { table: "workspaces", idColumn: "id" },
  member: { table: "members", idColumn: "user_id" },
  key: { table: "api_keys", idColumn: "id" },
};

/** Stops the ledger's clock, which is the database's, at a moment (ISO 8601). */
export async function setLedgerClock(database: Database, at: string): Promise<void> {
  await database.query(
    `create or replace function ledger_now() returns timestamptz language sql volatile as $$ select timestamptz '${at}' $$`,
  );
}

/** Changes rows that are immutable. No normal database user may do that. */
export async function tamper(
  database: Database,
  sql: string,
  params: readonly unknown[] = [],
): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query("set local session_replication_role = replica");
    await tx.query(sql, params);
  });
}

export async function addWorkspace(database: Database, id: string): Promise<void> {
  await database.query("insert into workspaces (id, name) values ($1, $1)", [id]);
}

export async function addKey(
  database: Database,
  key: { workspaceId: string; id: string; createdBy?: string | undefined },
): Promise<void> {
  await database.query(
    `insert into api_keys (workspace_id, id, name, lookup, key_prefix, key_last4, created_by)
     values ($1, $2, $2, convert_to($1 || '/' || $2, 'utf8'), 'gw_', 'last', $3)`,
    [key.workspaceId, key.id, key.createdBy ?? null],
  );
  if (key.createdBy === undefined) return;
  await database.query(
    "insert into members (workspace_id, user_id) values ($1, $2) on conflict do nothing",
    [key.workspaceId, key.createdBy],
  );
}

/** Sets a cap; `amountNano` null clears it. */
export async function setCap(
  database: Database,
  cap: {
    layer: Layer;
    workspaceId: string;
    id: string;
    window: string;
    amountNano: bigint | null;
    hard?: boolean;
  },
): Promise<void> {
  const { table, idColumn } = capTables[cap.layer];
  const where =
    cap.layer === "workspace"
      ? "id = $1 and $2::text is not null"
      : `workspace_id = $1 and ${idColumn} = $2`;
  await database.query(
    `update ${table} set cap_${cap.window}_nano = $3, cap_hard = $4 where ${where}`,
    [cap.workspaceId, cap.id, cap.amountNano, cap.hard === true],
  );
}

interface World {
  readonly database: Database;
  readonly ledger: TestLedger;
  /** The workspace of each key, member and hold, by name. */
  readonly workspaceOf: Map<string, string>;
}

const unlimitedQueue: QueueLimits = { global: 1_000_000, perWorkspace: 1_000_000 };

/** Takes one hold. Returns "reserved" or the refusal. */
export async function reserveOne(
  tx: Queryable,
  input: HoldInput,
  queue: QueueLimits = unlimitedQueue,
): Promise<string> {
  const [refusal] = await reserveIn(tx, [input], queue);
  if (refusal === undefined) return "reserved";
  const { code, message } = refusal.error;
  // A hard cap also says how much is left, as in "reached: this call may cost up to $2, and $1 of it is ...".
  const cap =
    /^(.+) cap of \$([\d.]+) reached(?:: [^;]+)?; (?:resets (.{16}).*|it does not reset)\.$/.exec(
      message,
    );
  if (cap === null) return refusalIn(refusal.error) ?? code;
  const [, , limit, resets] = cap;
  const [layer, window] = code.split("_");
  return `${layer} ${window} ${limit}${resets === undefined ? "" : ` until ${resets}`}`;
}

/** The end of a hold as one word. */
export function endingOf(settled: Settled | undefined): string {
  if (settled === undefined) return "unknown";
  const word = settled.kind === "charge" ? "posted" : "voided";
  return settled.isNew ? word : `already_${word}`;
}

/** Runs the left side of a line. Returns its result as text, and the workspace it concerns. */
type Step = (world: World, words: string[]) => Promise<[result: string, workspaceId?: string]>;

const steps: Record<string, Step> = {
  async account({ database, workspaceOf }, [id]) {
    await addWorkspace(database, id!);
    workspaceOf.set(id!, id!);
    return ["", id!];
  },
  async key({ database, workspaceOf }, [id, workspaceId, , createdBy]) {
    await addKey(database, { workspaceId: workspaceId!, id: id!, createdBy });
    workspaceOf.set(id!, workspaceId!);
    if (createdBy !== undefined) workspaceOf.set(createdBy, workspaceId!);
    return ["", workspaceId];
  },
  async cap({ database, workspaceOf }, [layer, id, window, amount, hard]) {
    await setCap(database, {
      layer: layer as Layer,
      workspaceId: workspaceOf.get(id!)!,
      id: id!,
      window: window!,
      amountNano: amount === "none" ? null : parseUsd(amount!),
      hard: hard === "hard",
    });
    return ["", workspaceOf.get(id!)];
  },
  async status({ database, workspaceOf }, [id, status]) {
    const workspaceId = workspaceOf.get(id!)!;
    if (workspaceId === id)
      await database.query("update workspaces set status = $2 where id = $1", [id, status]);
    else
      await database.query("update api_keys set status = $3 where workspace_id = $1 and id = $2", [
        workspaceId,
        id,
        status,
      ]);
    return ["", workspaceId];
  },
  async expires({ database, workspaceOf }, [id, time]) {
    const workspaceId = workspaceOf.get(id!)!;
    await database.query(
      "update api_keys set expires_at = $3 where workspace_id = $1 and id = $2",
      [workspaceId, id, time],
    );
    return ["", workspaceId];
  },
  async at({ database }, [time]) {
    await setLedgerClock(database, time!);
    return [""];
  },
  async deposit({ ledger }, [workspaceId, amount, reference]) {
    const result = await ledger.credit({
      workspaceId: workspaceId!,
      amountNano: parseUsd(amount!),
      reference: reference!,
    });
    return [result.outcome, workspaceId];
  },
  async reserve({ database, workspaceOf }, [id, keyId, amount, , leaseSeconds]) {
    const workspaceId = workspaceOf.get(keyId!) ?? "nowhere";
    workspaceOf.set(id!, workspaceId);
    const input = {
      id: id!,
      workspaceId,
      keyId: keyId!,
      keyRotation: 0,
      amountNano: parseUsd(amount!),
      leaseMs: Number(leaseSeconds ?? 3600) * 1000,
      kind: "task" as const,
    };
    return [await database.transaction((tx) => reserveOne(tx, input)), workspaceId];
  },
  async post({ database, workspaceOf }, [id, amount]) {
    const workspaceId = workspaceOf.get(id!) ?? "nowhere";
    const result = await settleIn(database, { id: id!, workspaceId }, parseUsd(amount!));
    const late = result?.isLate === true ? "late " : "";
    return [`${late}${endingOf(result)} ${formatUsd(result?.amountNano ?? 0n)}`, workspaceId];
  },
  async void({ database, workspaceOf }, [id]) {
    const workspaceId = workspaceOf.get(id!) ?? "nowhere";
    const result = await settleIn(database, { id: id!, workspaceId }, null);
    return [endingOf(result), workspaceId];
  },
  async extend({ database, workspaceOf }, [id, seconds]) {
    const workspaceId = workspaceOf.get(id!)!;
    await extendHolds(database, [{ id: id!, workspaceId }], Number(seconds) * 1000);
    return ["", workspaceId];
  },
  async expire({ ledger }) {
    return [String(await ledger.expire())];
  },
};

/** Runs a table on a database of its own; checks each line, and at the end that the ledger adds up. */
export async function runTable(database: Database, table: string): Promise<void> {
  await setLedgerClock(database, "2026-11-04T12:00:00Z");
  const world: World = {
    database,
    ledger: createLedger(database),
    workspaceOf: new Map(),
  };
  const got: string[] = [];
  const wanted: string[] = [];
  for (const line of table.split("\n")) {
    const text = line.replace(/#.*/, "").trim().replace(/\s+/g, " ");
    if (text === "") continue;
    const [left = "", right = ""] = text.split(" -> ");
    const [name = "", ...words] = left.split(" ");
    const step = steps[name];
    if (step === undefined) throw new Error(`no such operation: ${text}`);
    const [result, workspaceId] = await step(world, words);
    const wantsAvailable = /available /.test(right);
    const balance = wantsAvailable ? await world.ledger.balance(workspaceId!) : undefined;
    const available =
      balance === undefined ? "" : `, available ${formatUsd(balance.availableNano)}`;
    got.push(`${left} -> ${result}${available}`);
    const normal = right.replace(
      /available (-?[\d.]+)/,
      (_match, amount: string) => `available ${formatUsd(parseUsd(amount))}`,
    );
    wanted.push(`${left} -> ${normal}`);
  }
  expect(got).toEqual(wanted);
  expect(await verifyLedger(database)).toEqual([]);
}
