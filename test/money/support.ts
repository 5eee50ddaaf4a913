/**
 * A gateway in front of a recording upstream, and the three places that show a call's money: the ledger entry, `GET /v1/key`, and
 * the request log.
 */
import { afterAll, beforeAll, describe, expect } from "vitest";
import type { Clock } from "../../src/base/clock.ts";
import type { manualClock } from "../support/manual-clock.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import {
  changeKey,
  changeMember,
  changeWorkspace,
  createKey,
  createWorkspace,
  openSecrets,
  type SpendCapsPatch,
} from "../../src/tenancy/index.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { Log } from "../../src/base/log.ts";
import { parseUsd } from "../../src/base/money.ts";
import { foldUsage } from "../../src/usage/index.ts";
import { setLedgerClock } from "../ledger/support.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { eventually } from "../support/patience.ts";
import { temporaryDirectory } from "../support/postgres.ts";
import type { Database } from "../../src/storage/index.ts";
import { json, startRecorder, type Answer, type Recorder } from "../support/recorder.ts";

/** The columns about money of a request log row. */
export interface LogRow {
  readonly id: string;
  readonly status: string;
  readonly http_status: number;
  readonly usage: Record<string, number> | null;
  readonly usage_source: string | null;
  readonly cost_nano: bigint;
  readonly attempts: readonly { outcome: string; status: number | null }[];
}

export interface EntryRow {
  readonly reference: string;
  readonly kind: string;
  readonly amount_nano: bigint;
  readonly held_nano: bigint;
}

/** Reads calls and their money from the database. */
export interface LedgerReader {
  /** Waits for the request log row of a call, which is written in batches. */
  logRow(id: string): Promise<LogRow>;
  /** Waits for a row that was not there `before`; for calls whose answer the test never sees. */
  newestRow(before: ReadonlySet<string>): Promise<LogRow>;
  rowIds(): Promise<Set<string>>;
  entry(id: string): Promise<EntryRow | undefined>;
  charges(): Promise<EntryRow[]>;
  /** Open reservations: holds of tasks and images by their ids, allowances of text calls by key id. */
  holds(): Promise<{ id: string; amount_nano: bigint }[]>;
  /** Waits until no reservation is left, and expects the ledger to add up. */
  expectClean(): Promise<void>;
}

/** A gateway and its upstream, with helpers for tests. */
export interface Bench extends GatewayUnderTest, LedgerReader {
  readonly up: Recorder;
  readonly keyId: string;
  /** Sets the caps of a layer of the first key; null clears them. */
  setCaps(layer: "workspace" | "member" | "key", caps: SpendCapsPatch | null): Promise<void>;
  /** Adds a workspace with its own key and this credit, in dollars. */
  addWorkspace(usd: string): Promise<{ workspaceId: string; key: string }>;
  availableNano(): Promise<bigint>;
  /** The key's spend from `GET /v1/key`, as dollar texts. */
  keySpend(): Promise<Record<"total" | "daily" | "weekly" | "monthly", string>>;
}

export interface BenchOptions {
  /** The configuration file for an upstream at this address. */
  config(upUrl: string): string;
  /** Initial credit, in dollars; "100" if absent. */
  readonly credit?: string;
  readonly clock?: Clock;
  readonly log?: Log;
}

export { eventually };

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

const rowColumns = "id, status, http_status, usage, usage_source, cost_nano, attempts";

/** The books of a database. */
export function ledgerReaderOf(database: Database): LedgerReader {
  const books: LedgerReader = {
    logRow: (id) =>
      eventually(
        async () =>
          (
            await database.query<LogRow>(`select ${rowColumns} from request_log where id = $1`, [
              id,
            ])
          )[0],
        `the log row of ${id}`,
      ),
    newestRow: (after) =>
      eventually(async () => {
        const rows = await database.query<LogRow>(`select ${rowColumns} from request_log`);
        return rows.find((row) => !after.has(row.id));
      }, "a new row in the request log"),
    async rowIds() {
      const rows = await database.query<{ id: string }>("select id from request_log");
      return new Set(rows.map((row) => row.id));
    },
    async entry(id) {
      const rows = await database.query<EntryRow>(
        "select reference, kind, amount_nano, held_nano from ledger_entries where reference = $1",
        [id],
      );
      expect(rows.length).toBeLessThanOrEqual(1);
      return rows[0];
    },
    charges: () =>
      database.query<EntryRow>(
        "select reference, kind, amount_nano, held_nano from ledger_entries where kind = 'charge'",
      ),
    holds: () =>
      database.query(
        `select id, amount_nano from ledger_holds
         union all select key_id, amount_nano from ledger_allowances where amount_nano > 0`,
      ),
    async expectClean() {
      await eventually(
        async () => ((await books.holds()).length === 0 ? true : undefined),
        "no open hold",
      );
      // Summed usage must add up to the ledger too.
      await foldUsage(database);
      expect(await verifyLedger(database)).toEqual([]);
    },
  };
  return books;
}

const isoOf = (ms: number): string => new Date(ms).toISOString();

/** Moves the gateway's clock and the database's clock, which the ledger uses. */
export async function moveClock(
  { database }: Pick<Bench, "database">,
  clock: ReturnType<typeof manualClock>,
  ms: number,
): Promise<void> {
  clock.set(ms);
  await setLedgerClock(database, isoOf(ms));
}

/** Adds the bench's helpers to a running gateway. */
export async function benchOf(
  gateway: GatewayUnderTest,
  up: Recorder,
  options: { readonly dataDir: string; readonly clock?: Clock | undefined },
): Promise<Bench> {
  const { database, workspaceId } = gateway;
  const context = { database, clock: options.clock ?? systemClock };
  const keys = await database.query<{ id: string; created_by: string }>(
    "select id, created_by from api_keys order by id",
  );
  const { id: keyId, created_by: userId } = keys[0]!;
  const bench: Bench = {
    ...gateway,
    up,
    keyId,
    async setCaps(layer, spendCaps) {
      if (layer === "key") await changeKey(context, { id: keyId }, { spendCaps });
      else if (layer === "member")
        await changeMember(context, { workspaceId, userId }, { spendCaps });
      else await changeWorkspace(context, workspaceId, { spendCaps });
    },
    async addWorkspace(usd) {
      const other = await createWorkspace(context, { name: "Other", organizationId: null });
      const secrets = await openSecrets({
        database,
        masterKey: undefined,
        dataDir: options.dataDir,
      });
      const input = { workspaceId: other.id, name: "its key", createdBy: null };
      const { key } = await createKey({ ...context, secrets }, input);
      const amountNano = parseUsd(usd);
      await gateway.ledger.credit({ workspaceId: other.id, amountNano, reference: "start" });
      return { workspaceId: other.id, key };
    },
    ...ledgerReaderOf(database),
    availableNano: () =>
      eventually(async () => {
        const balance = await gateway.ledger.balance(gateway.workspaceId);
        return balance.heldNano === 0n ? balance.availableNano : undefined;
      }, "nothing set aside"),
    async keySpend() {
      const response = await gateway.get("/v1/key");
      expect(response.status).toBe(200);
      const { spend } = (await response.json()) as {
        spend: Record<"total" | "daily" | "weekly" | "monthly", string>;
      };
      return spend;
    },
  };
  return bench;
}

/** Runs `suite` with a gateway on its own database. */
export function describeGateways(
  name: string,
  options: BenchOptions,
  suite: (bench: () => Bench) => void,
): void {
  describe.each([name])("%s", () => {
    let bench: Bench;
    beforeAll(async () => {
      const up = await startRecorder(json({}));
      const dataDir = temporaryDirectory();
      const gateway = await startTestGateway({
        dataDir,
        config: options.config(up.url),
        ...(options.clock === undefined ? {} : { clock: options.clock }),
        ...(options.log === undefined ? {} : { log: options.log }),
      });
      if (options.clock) await setLedgerClock(gateway.database, isoOf(options.clock.now()));
      await gateway.credit(options.credit ?? "100");
      bench = await benchOf(gateway, up, { dataDir, clock: options.clock });
    });
    afterAll(async () => {
      await bench.close();
      await bench.up.close();
    });
    suite(() => bench);
  });
}

/** A configuration with one chat model `acme/talk`, price and provider extras as given (YAML flow text). */
export function chatConfig(
  upUrl: string,
  price: string,
  extras: { provider?: string } = {},
): string {
  return `
providers:
  - { id: up, dialect: openai-compatible, base_url: ${upUrl}/v1, api_key: none${extras.provider ? `, ${extras.provider}` : ""} }
models:
  - id: acme/talk
    kind: text
    context_length: 2000000
    max_output_tokens: 32000
    offers:
      - { provider: up, protocol: chat, upstream_model: talk-1, ${price} }
`;
}

/** A chat call's body. */
export const talk = (extra: Record<string, unknown> = {}) => ({
  model: "acme/talk",
  messages: [{ role: "user", content: "Hello" }],
  ...extra,
});

/** A whole chat answer with this usage. */
export const completion = (usage?: object, content = "Hello there") => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "talk-1",
  choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
  ...(usage === undefined ? {} : { usage }),
});

const chunk = (fields: object) =>
  `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "talk-1", ...fields })}\n\n`;

/** The frame of one text delta. */
export const delta = (content: string) =>
  chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
export const finishFrame = chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
export const usageFrame = (usage: object) => chunk({ choices: [], usage });
export const doneFrame = "data: [DONE]\n\n";

export const usageOf = (prompt: number, output: number) => ({
  prompt_tokens: prompt,
  completion_tokens: output,
  total_tokens: prompt + output,
});

/** Answers whole or streamed, as requested. */
export const answering =
  (usage: object | undefined, pieces: readonly string[] = ["Hello", " there"]): Answer =>
  (request, response) => {
    if (request.body["stream"] !== true) {
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify(completion(usage, pieces.join(""))));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of pieces) response.write(delta(piece));
    response.write(finishFrame);
    if (usage !== undefined) response.write(usageFrame(usage));
    response.end(doneFrame);
  };

/** The gateway's id of an answered call, which is also its ledger entry's reference. */
export const idOf = (response: Response): string => response.headers.get("x-request-id")!;

/** The error in a refused call's answer. */
export async function errorOf(response: Response) {
  const body = (await response.json()) as {
    error: { code: string; type: string; message: string };
  };
  return body.error;
}
