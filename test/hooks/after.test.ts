// Hooks after a call: they get their events off the caller's path. A slow, dead or flooded hook costs no call and no money.
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { Webhook } from "standardwebhooks";
import { parseUsd } from "../../src/base/money.ts";
import { createKey } from "../../src/tenancy/index.ts";
import { eventually } from "../support/patience.ts";
import { json } from "../support/recorder.ts";
import { video } from "../task-http/support.ts";
import {
  allow,
  calls,
  eventOf,
  expectBooks,
  inBothForms,
  secret,
  startHooked,
  type HookBench,
} from "./support.ts";

let hooked: HookBench;
beforeAll(async () => {
  hooked = await startHooked(
    (url) => `  - { name: ear, at: after, url: "${url}", secret: ${secret}, timeout_ms: 500 }\n`,
  );
});
afterAll(() => hooked?.close());
beforeEach(() => {
  hooked.hook.answer(allow);
  hooked.hook.requests.length = 0;
});

const eventWithId = (id: string) =>
  eventually(() => hooked.hook.requests.find((one) => eventOf(one).id === id), `heard of ${id}`);

const text =
  'Hello\n#sandbox {"reply":"Good morning","usage":{"input":12,"output":5,"cache_read":3}}';

it.each(inBothForms(text))(
  "an ended call of $endpoint, stream $stream, is reported with its status, usage, charge and text",
  async (call) => {
    const { bench } = hooked;
    const answer = await bench.post(call.path, call.body);
    expect(answer.status).toBe(200);
    await answer.text();
    const sent = await eventWithId(answer.headers.get("x-request-id")!);
    new Webhook(secret).verify(sent.text, sent.headers as Record<string, string>);
    const event = eventOf(sent);
    expect(event).toMatchObject({
      type: "call.after",
      endpoint: call.endpoint,
      stream: call.stream,
      status: "succeeded",
      http_status: 200,
      error_code: null,
      provider: "sandbox-openai",
      usage: { input_tokens: 12, output_tokens: 5, cache_read_tokens: 3, cache_write_1h_tokens: 0 },
      truncated: [],
      body: call.body,
    });
    expect((event["answer"] as { text: string }).text).toContain("Good morning");
    const charged = await eventually(async () => {
      const [row] = await bench.database.query<{ amount_nano: bigint }>(
        "select amount_nano from ledger_entries where reference = $1",
        [event.id],
      );
      return row?.amount_nano;
    }, "its charge");
    expect(parseUsd(event["charge_usd"] as string)).toBe(charged);
    expect(sent.text).not.toContain(bench.key);
  },
);

it("a failed call is reported too, with its error code", async () => {
  const answer = await hooked.bench.post("/v1/chat/completions", {
    model: "no/such",
    messages: [{ role: "user", content: "Hi" }],
  });
  expect(answer.status).toBe(404);
  const event = eventOf(await eventWithId(answer.headers.get("x-request-id")!));
  expect(event).toMatchObject({
    status: "failed",
    http_status: 404,
    error_code: "model_not_found",
  });
  expect(event["charge_usd"]).toMatch(/^0/);
});

it("a long answer text is cut in the event, which names the cut field; the caller gets all of it", async () => {
  const reply = "word ".repeat(80_000);
  const answer = await hooked.bench.post("/v1/chat/completions", {
    model: "sandbox/chat",
    messages: [{ role: "user", content: `Hello\n#sandbox ${JSON.stringify({ reply })}` }],
  });
  expect((await answer.text()).length).toBeGreaterThan(400_000);
  const event = eventOf(await eventWithId(answer.headers.get("x-request-id")!));
  expect(event["truncated"]).toContain("answer.text");
  expect((event["answer"] as { text: string }).text).toHaveLength(256 * 1024);
});

it("a long streamed text is cut to 256 KB in the event", async () => {
  const reply = "word ".repeat(60_000);
  const answer = await hooked.bench.post("/v1/chat/completions", {
    model: "sandbox/chat",
    stream: true,
    messages: [{ role: "user", content: `Hello\n#sandbox ${JSON.stringify({ reply })}` }],
  });
  expect((await answer.text()).length).toBeGreaterThan(300_000);
  const event = eventOf(await eventWithId(answer.headers.get("x-request-id")!));
  expect(event["truncated"]).toContain("answer.text");
  expect((event["answer"] as { text: string }).text).toBe(reply.slice(0, 256 * 1024));
});

it("an image call and a task are reported after they have ended", async () => {
  const { bench } = hooked;
  const answer = await bench.post("/v1/images/generations", {
    model: "sandbox/image-model-a",
    prompt: "A boat",
  });
  expect(answer.status).toBe(200);
  await answer.text();
  const image = eventOf(await eventWithId(answer.headers.get("x-request-id")!));
  expect(image).toMatchObject({
    endpoint: "images_generations",
    status: "succeeded",
    answer: null,
  });
  const task = await bench.create(video);
  await bench.until(task.id, "succeeded");
  const ended = eventOf(await eventWithId(task.id));
  expect(ended).toMatchObject({ endpoint: "tasks", status: "succeeded", body: null });
  expect(parseUsd(ended["charge_usd"] as string)).toBeGreaterThan(0n);
});

it("a number that no double can hold reaches the hook with the digits of the caller", async () => {
  const { bench, hook } = hooked;
  const seed = "9223372036854775807";
  const answer = await fetch(`${bench.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${bench.key}` },
    body: `{"model":"sandbox/chat","messages":[{"role":"user","content":"Hi"}],"seed":${seed}}`,
  });
  await answer.text();
  expect((await eventWithId(answer.headers.get("x-request-id")!)).text).toContain(`"seed":${seed}`);
  expect(hook.requests).toHaveLength(1);
});

it("events of calls and tasks of a member's key name the member", async () => {
  const { bench } = hooked;
  const owned = { workspaceId: bench.workspaceId, name: "hers", createdBy: "user_7" };
  const { key } = await createKey(await bench.internals(), owned);
  const headers = { authorization: `Bearer ${key}` };
  const answer = await bench.post("/v1/chat/completions", calls[0]![2](text), headers);
  await answer.text();
  const task = await bench.create(video, headers);
  for (const id of [answer.headers.get("x-request-id")!, task.id])
    expect(eventOf(await eventWithId(id))).toMatchObject({ member_id: "user_7" });
});

it.each([
  ["is dead", json({}, 500)],
  ["never answers", () => undefined],
] as const)("a hook that %s delays no answer and no charge", async (_what, answer) => {
  const { bench, hook } = hooked;
  hook.answer(answer);
  const [, path, body] = calls[0]!;
  const answered = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const response = await bench.post(path, body(text));
      await response.text();
      return response.headers.get("x-request-id")!;
    }),
  );
  await eventually(async () => {
    const rows = await bench.database.query(
      "select 1 from ledger_entries where reference = any($1) and kind = 'charge'",
      [answered],
    );
    return rows.length === 40;
  }, "all are charged");
  const failed = /tollgate_hook_questions_total\{hook="ear",at="after",outcome="failed"\} [1-9]/;
  await expect.poll(async () => (await fetch(`${bench.url}/metrics`)).text()).toMatch(failed);
});

it("the ledger has no differences after all these calls", () => expectBooks(hooked.bench));
