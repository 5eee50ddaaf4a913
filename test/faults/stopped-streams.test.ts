/**
 * Streams that take longer than a stopping gateway waits: they end with an error in their caller's protocol, and the received
 * part is charged.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { openDatabase, type Database } from "../../src/storage/index.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import { startTestGateway } from "../support/gateway.ts";
import { sharedPostgres, silentLog, temporaryDirectory } from "../support/postgres.ts";

const script = { reply: "one two three four five six", chunk_delay_ms: 1_000, chunk_chars: 1 };
const text = `#sandbox ${JSON.stringify(script)}`;
const messages = [{ role: "user", content: text }];

const places: Readonly<Record<string, readonly [path: string, body: (model: string) => object]>> = {
  chat: ["/v1/chat/completions", (model) => ({ model, stream: true, messages })],
  messages: ["/v1/messages", (model) => ({ model, stream: true, max_tokens: 1_000, messages })],
  responses: ["/v1/responses", (model) => ({ model, stream: true, input: text })],
};
const generate = (model: string) =>
  [
    `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    { contents: [{ role: "user", parts: [{ text }] }] },
  ] as const;

/** The error in each protocol, and the text of a normal end, which must not appear. */
const ends: Readonly<Record<string, { readonly error: RegExp; readonly normal: string }>> = {
  chat: { error: /"finish_reason":"error".*"message":"The gateway stops/, normal: '"stop"' },
  messages: { error: /^event: error\ndata: .*The gateway stops/m, normal: "message_stop" },
  responses: {
    error: /^event: response\.failed\ndata: .*The gateway stops/m,
    normal: "response.completed",
  },
  "generate-content": { error: /^data: \{"error":\{.*The gateway stops/m, normal: "STOP" },
};

interface Ended {
  readonly caller: string;
  readonly model: string;
  readonly text: string;
  readonly id: string;
}

let database: Database;
const ended: Ended[] = [];
beforeAll(async () => {
  const databaseUrl = await (await sharedPostgres()).createMigrated();
  const dataDir = temporaryDirectory();
  // Long enough for the first frame of each stream, too short for all frames.
  const gateway = await startTestGateway({ databaseUrl, dataDir, sandbox: "on", stopMs: 4_000 });
  const models = ["sandbox/chat", "sandbox/messages"];
  const reading = models.flatMap((model) =>
    Object.keys(ends).map(async (caller) => {
      const [path, body] =
        caller === "generate-content"
          ? generate(model)
          : [places[caller]![0], places[caller]![1](model)];
      const answer = await gateway.post(path, body);
      const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
      const pieces = [(await reader.read()).value ?? ""];
      const all = (async () => {
        for (let next = await reader.read(); !next.done; next = await reader.read())
          pieces.push(next.value);
        return pieces.join("");
      })();
      const id = answer.headers.get("x-request-id")!;
      return { caller, model, id, text: all.catch(() => `${pieces.join("")}<cut>`) };
    }),
  );
  const begun = await Promise.all(reading);
  await gateway.close();
  for (const one of begun) ended.push({ ...one, text: await one.text });
  database = await openDatabase({ url: databaseUrl, log: silentLog });
});
afterAll(() => database.close());

it("T16: each stream ends with the error of its caller's protocol, direct and converted, and not like a complete one", () => {
  const wrong = ended.filter(({ caller, text: got }) => {
    const { error, normal } = ends[caller]!;
    return !error.test(got) || got.includes(normal) || got.endsWith("<cut>");
  });
  expect(wrong.map(({ caller, model, text: got }) => [caller, model, got.slice(-400)])).toEqual([]);
  expect(ended).toHaveLength(8);
});

it("T62 BILL-01: the received part is charged, nothing is held, and the log says that the gateway stopped", async () => {
  const rows = await database.query(
    "select id, status, cost_nano > 0 as charged, error_message from request_log order by id",
  );
  const ids = ended.map(({ id }) => id).toSorted();
  const error_message = expect.stringContaining("The gateway stops");
  expect(rows).toEqual(ids.map((id) => ({ id, status: "failed", charged: true, error_message })));
  expect(await database.query("select 1 from ledger_accounts where held_nano <> 0")).toEqual([]);
  expect(await verifyLedger(database)).toEqual([]);
});
