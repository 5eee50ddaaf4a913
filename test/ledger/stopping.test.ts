// Calls that wait for their reservation when the gateway stops: callers get an error of their protocol, not a connection reset.
import { afterAll, beforeAll, expect, it } from "vitest";
import { openDatabase, type Database } from "../../src/storage/index.ts";
import { startTestGateway } from "../support/gateway.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres, silentLog, temporaryDirectory } from "../support/postgres.ts";

const text = "Hello!";
const turns = [{ role: "user", content: text }];
const model = "sandbox/chat";
const heldCalls: readonly (readonly [path: string, body: object])[] = [
  ["/v1/chat/completions", { model, messages: turns }],
  ["/v1/chat/completions", { model, messages: turns, stream: true }],
  ["/v1/responses", { model, input: text }],
  ["/v1/messages", { model, messages: turns, max_tokens: 10 }],
  [`/v1beta/models/${model}:generateContent`, { contents: [{ role: "user", parts: [{ text }] }] }],
  ["/v1/embeddings", { model: "sandbox/embedding", input: text }],
  ["/v1/images/generations", { model: "sandbox/image-model-a", prompt: "A boat" }],
];
const words: Readonly<Record<string, string>> = {
  "/v1/messages": '"type":"overloaded_error"',
  [`/v1beta/models/${model}:generateContent`]: '"status":"UNAVAILABLE"',
};

let own: Database;
const answers: (readonly [status: number | string, retryAfter: string | null, text: string])[] = [];
beforeAll(async () => {
  const databaseUrl = await (await sharedPostgres()).createMigrated();
  const dataDir = temporaryDirectory();
  const gateway = await startTestGateway({ databaseUrl, dataDir, sandbox: "on", stopMs: 1_000 });
  own = await openDatabase({ url: databaseUrl, dataDir, log: silentLog });
  const ask = async ([path, body]: (typeof heldCalls)[number]) => {
    const answer = await gateway.post(path, body);
    return [answer.status, answer.headers.get("retry-after"), await answer.text()] as const;
  };
  let closed: Promise<void> | undefined;
  await own.transaction(async (tx) => {
    await tx.query("select 1 from ledger_accounts for update");
    const waiting = heldCalls.map((one) =>
      ask(one).catch(
        (error: unknown) => [String((error as Error).cause ?? error), null, ""] as const,
      ),
    );
    await eventually(async () => {
      const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
      return metrics.includes(`\ntollgate_requests_in_flight ${heldCalls.length}\n`);
    }, "calls that wait");
    closed = gateway.close();
    answers.push(...(await Promise.all(waiting)));
  });
  await closed;
});
afterAll(() => own?.close());

it.each(heldCalls.map(([path], index) => [path, index] as const))(
  "ERR-01: %s waiting for its reservation is answered 503 with Retry-After in its protocol (%i)",
  (path, index) => {
    const [status, retryAfter, said] = answers[index]!;
    expect([status, retryAfter]).toEqual([503, "1"]);
    expect(said).toContain("Nothing was charged.");
    expect(said).toContain(words[path] ?? '"code":"shutting_down"');
  },
);

it("BILL-01: calls that waited at the stop leave no hold and no charge", async () => {
  const [row] = await own.query(
    "select sum(charged_nano)::text as charged, sum(held_nano)::text as held from ledger_accounts",
  );
  expect(row).toEqual({ charged: "0", held: "0" });
});
