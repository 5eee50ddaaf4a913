/** Answers that have not begun when a stopping gateway cuts its calls: their callers get an error of their protocol, not a reset. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { openDatabase, type Database } from "../../src/storage/index.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import { startTestGateway } from "../support/gateway.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres, silentLog, temporaryDirectory } from "../support/postgres.ts";

const stopMs = 3_000;
const scripted = (script: object): string => `#sandbox ${JSON.stringify(script)}`;
const never = scripted({ delay_ms: 60_000 });
const messages = [{ role: "user", content: never }];
const model = "sandbox/chat";

/** Each form of a call whose answer does not come: whole, converted, streamed, a picture. */
const calls: readonly (readonly [path: string, body: object, error: string])[] = [
  ["/v1/chat/completions", { model, messages }, '"code":"shutting_down"'],
  ["/v1/chat/completions", { model, messages, stream: true }, '"code":"shutting_down"'],
  ["/v1/messages", { model, max_tokens: 100, messages }, '"type":"overloaded_error"'],
  ["/v1/responses", { model, input: never }, '"code":"shutting_down"'],
  [
    `/v1beta/models/${model}:generateContent`,
    { contents: [{ role: "user", parts: [{ text: never }] }] },
    '"status":"UNAVAILABLE"',
  ],
  [
    "/v1/images/generations",
    { model: "sandbox/image-model-a", prompt: `A boat\n${never}` },
    '"code":"shutting_down"',
  ],
];

let database: Database;
const answers: (readonly [status: number, retryAfter: string | null, text: string])[] = [];
let inTime: string;
beforeAll(async () => {
  const databaseUrl = await (await sharedPostgres()).createMigrated();
  const dataDir = temporaryDirectory();
  const gateway = await startTestGateway({ databaseUrl, dataDir, sandbox: "on", stopMs });
  const asked = async (path: string, body: object) => {
    const answer = await gateway.post(path, body);
    return [answer.status, answer.headers.get("retry-after"), await answer.text()] as const;
  };
  const waiting = calls.map(([path, body]) => asked(path, body));
  await eventually(async () => {
    const journal = await fetch(`${gateway.sandboxUrl}/__journal?contains=60000`);
    return ((await journal.json()) as { data: unknown[] }).data.length === calls.length;
  }, "calls under way");
  // This answer comes in the last second and a half, in which streams are told to end.
  const late = scripted({ reply: "just in time", delay_ms: stopMs - 1_000 });
  const made = asked("/v1/chat/completions", {
    model,
    messages: [{ role: "user", content: late }],
  });
  const closed = gateway.close();
  answers.push(...(await Promise.all(waiting)));
  [, , inTime] = await made;
  await closed;
  database = await openDatabase({ url: databaseUrl, log: silentLog });
});
afterAll(() => database?.close());

it.each(calls.map(([path], index) => [path, index] as const))(
  "ERR-01: %s gets 503 with Retry-After in its protocol when the gateway stops (%i)",
  (_path, index) => {
    const [status, retryAfter, text] = answers[index]!;
    expect([status, retryAfter]).toEqual([503, "1"]);
    expect(text).toContain("Nothing was charged.");
    expect(text).toContain(calls[index]![2]);
  },
);

it("an answer that comes before the gateway cuts its calls reaches its caller", () => {
  expect(inTime).toContain("just in time");
});

it("BILL-01: only the answered call is charged, nothing is held, and the log says why the others failed", async () => {
  const rows = await database.query<{ status: string; cost: bigint; error_message: string | null }>(
    "select status, cost_nano as cost, error_message from request_log order by status",
  );
  const failed = {
    status: "failed",
    cost: 0n,
    error_message: expect.stringContaining("The gateway stops") as string,
  };
  const succeeded = {
    status: "succeeded",
    cost: expect.any(BigInt) as bigint,
    error_message: null,
  };
  expect(rows).toEqual([...calls.map(() => failed), succeeded]);
  expect(await database.query("select 1 from ledger_accounts where held_nano <> 0")).toEqual([]);
  expect(await database.query("select 1 from ledger_holds")).toEqual([]);
  expect(await verifyLedger(database)).toEqual([]);
});
