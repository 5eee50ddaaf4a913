// Hooks before a call, over HTTP: their requests, their valid answers, and the effect on the call when they fail or lie.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Webhook } from "standardwebhooks";
import { systemClock } from "../../src/base/clock.ts";
import { changeKey } from "../../src/tenancy/index.ts";
import { json } from "../support/recorder.ts";
import {
  allow,
  calls,
  charges,
  decide,
  eventOf,
  expectBooks,
  logged,
  redacted,
  secret,
  startHooked,
  type Event,
  type HookBench,
} from "./support.ts";

let hooked: HookBench;
beforeAll(async () => {
  hooked = await startHooked(
    (url) => `
  - { name: guard, at: before, url: "${url}/guard", secret: ${secret}, timeout_ms: 1000, on_failure: refuse,
      endpoints: [chat_completions, responses, messages, generate_content, embeddings, images_generations, tasks] }
  - { name: lenient, at: before, url: "${url}/lenient", secret: ${secret}, timeout_ms: 300, on_failure: allow,
      endpoints: [messages] }
`,
  );
});
afterAll(() => hooked?.close());
beforeEach(() => {
  hooked.hook.answer(allow);
  hooked.hook.requests.length = 0;
});

const chat = (text: string, more: object = {}) => ({
  model: "sandbox/chat",
  messages: [{ role: "user", content: text }],
  ...more,
});
const post = (path: string, body: object) => hooked.bench.post(path, body);
const chatPath = "/v1/chat/completions";

interface Refusal {
  readonly error: Record<string, unknown>;
}
const refusalOf = async (response: Response) => ((await response.json()) as Refusal).error;

const callers = calls.flatMap(([endpoint, path, body]) => [
  { endpoint, path, body, stream: false },
  ...(endpoint === "embeddings" ? [] : [{ endpoint, path, body, stream: true }]),
]);

/** The path and body of a call, whole or streamed as each protocol requests it. */
function requestTo({ path, body, stream }: (typeof callers)[number], text: string) {
  if (!stream) return [path, body(text)] as const;
  return path.includes("generateContent")
    ? ([path.replace("generateContent", "streamGenerateContent?alt=sse"), body(text)] as const)
    : ([path, body(text, { stream: true })] as const);
}

describe.each(callers)("a call of $endpoint, stream $stream", (caller) => {
  it("reaches the hook as its caller wrote it, signed, without the key", async () => {
    const [path, body] = requestTo(caller, "Hello");
    const answer = await post(path, body);
    expect(answer.status).toBe(200);
    await answer.text();
    const [sent] = hooked.hook.requests;
    expect(new Webhook(secret).verify(sent!.text, sent!.headers as Record<string, string>)).toEqual(
      sent!.body,
    );
    expect(eventOf(sent!)).toMatchObject({
      type: "call.before",
      hook: "guard",
      endpoint: caller.endpoint,
      stream: caller.stream,
      workspace_id: hooked.bench.workspaceId,
      id: answer.headers.get("x-request-id"),
    });
    expect(eventOf(sent!).body).toEqual(body);
    const said = sent!.text + JSON.stringify(sent!.headers);
    expect(said).not.toContain(hooked.bench.key);
  });

  it("is sent to the vendor as the hook changed it, and its answer names the changed field", async () => {
    hooked.hook.answer(decide(({ body }) => ({ action: "change", body: redacted(body) })));
    await hooked.bench.received(/./);
    const [path, body] = requestTo(caller, "secret words");
    const answer = await post(path, body);
    const text = await answer.text();
    expect(answer.status).toBe(200);
    const [sent] = await hooked.bench.received(/./);
    expect(JSON.stringify(sent!.body)).toContain("[gone]");
    expect(JSON.stringify(sent!.body)).not.toContain("secret words");
    const field = Object.keys(body).find((name) => /messages|input|contents/.test(name))!;
    const reported = `${answer.headers.get("x-gw-dropped-params") ?? ""} ${text}`;
    expect(reported).toContain(field);
    const row = await logged(hooked.bench, answer.headers.get("x-request-id")!);
    expect(row["notes"]).toContain(`${field}: changed by the hook "guard"`);
    expect(row["explanation"]).toMatchObject({
      hooks: expect.arrayContaining([{ hook: "guard", outcome: "changed" }]) as unknown,
    });
  });

  it("is answered 403 in its own protocol if the hook refuses it; no vendor is called and nothing is charged", async () => {
    const before = await charges(hooked.bench);
    await hooked.bench.received(/./);
    hooked.hook.answer(decide(() => ({ action: "refuse", message: "No names.", code: "pii" })));
    const [path, body] = requestTo(caller, "Hello");
    const answer = await post(path, body);
    expect(answer.status).toBe(403);
    expect(answer.headers.get("x-gw-hook-code")).toBe("pii");
    expect(answer.headers.get("x-should-retry")).toBe("false");
    const error = await refusalOf(answer);
    expect(error["message"]).toBe("No names.");
    expect(JSON.stringify(error)).toContain(
      caller.endpoint === "generate_content" ? "PERMISSION_DENIED" : "permission",
    );
    expect(await hooked.bench.received(/./)).toEqual([]);
    expect(await charges(hooked.bench)).toBe(before);
  });
});

it("the request log and the metrics show a refusal", async () => {
  hooked.hook.answer(decide(() => ({ action: "refuse" })));
  const answer = await post(chatPath, chat("Hello"));
  const error = await refusalOf(answer);
  expect(error).toMatchObject({
    code: "hook_refused",
    message: "A rule of this gateway's operator refused the request.",
  });
  const row = await logged(hooked.bench, answer.headers.get("x-request-id")!);
  expect(row).toMatchObject({ status: "failed", http_status: 403, cost_nano: 0n });
  expect(row["explanation"]).toMatchObject({
    error: "hook_refused",
    hooks: [{ hook: "guard", outcome: "refused" }],
  });
  const metrics = await (await fetch(`${hooked.bench.url}/metrics`)).text();
  expect(metrics).toMatch(
    /tollgate_hook_questions_total\{hook="guard",at="before",outcome="refused"\} [1-9]/,
  );
});

describe("a hook that fails", () => {
  const invalidAnswers: readonly (readonly [
    what: string,
    answer: Parameters<HookBench["hook"]["answer"]>[0],
  ])[] = [
    ["answers 500", json({ action: "allow" }, 500)],
    ["redirects", json({ action: "allow" }, 302, { location: "http://127.0.0.1:1/" })],
    ["answers with an empty body", (_request, response) => void response.writeHead(204).end()],
    ["answers without JSON", (_request, response) => void response.end("allow")],
    ["answers a list", json([{ action: "allow" }])],
    ["has an unknown action", json({ action: "maybe" })],
    ["replaces the body with a text", json({ action: "change", body: "x" })],
    ["changes nothing", json({ action: "change" })],
    [
      "changes stream",
      decide(({ body }) => ({ action: "change", body: { ...body, stream: true } })),
    ],
    ["removes the model", json({ action: "change", body: { messages: [], model: 7 } })],
    ["answers 10 MB", json({ action: "allow", more: "x".repeat(10_000_000) })],
    [
      "answers 10 MB that never end",
      (_request, response) => {
        const chunk = "x".repeat(65_536);
        const write = (): void => {
          while (!response.destroyed && response.write(chunk));
          if (!response.destroyed) response.once("drain", write);
        };
        write();
      },
    ],
    ["cuts the connection", (_request, response) => void response.destroy()],
    ["never answers", () => undefined],
    [
      "answers byte by byte",
      (_request, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        const timer = setInterval(() => response.write(" "), 50);
        response.on("close", () => clearInterval(timer));
      },
    ],
  ];

  it.each(invalidAnswers)(
    "gets the call refused with 503 within the deadline, uncharged, if it %s",
    async (_what, invalid) => {
      const before = await charges(hooked.bench);
      hooked.hook.answer(invalid);
      const beganMs = performance.now();
      const answer = await post(chatPath, chat("Hello"));
      expect(answer.status).toBe(503);
      expect(await refusalOf(answer)).toMatchObject({ code: "hook_failed" });
      expect(answer.headers.get("retry-after")).toBe("1");
      expect(performance.now() - beganMs).toBeLessThan(10_000);
      expect(await charges(hooked.bench)).toBe(before);
    },
  );

  it("leaves the call unchanged if `on_failure` is `allow`, and the log names the failure", async () => {
    hooked.hook.answer((request, response) =>
      (request.path === "/lenient" ? json({}, 500) : allow)(request, response),
    );
    const answer = await post("/v1/messages", chat("Hello", { max_tokens: 50 }));
    expect(answer.status).toBe(200);
    await answer.text();
    const row = await logged(hooked.bench, answer.headers.get("x-request-id")!);
    expect(row["explanation"]).toMatchObject({
      hooks: [
        { hook: "guard", outcome: "allowed" },
        { hook: "lenient", outcome: "failed" },
      ],
    });
  });
});

describe("a body that a hook changed", () => {
  it("reaches the next hook as changed", async () => {
    hooked.hook.answer(
      decide(({ hook, body }) =>
        hook === "guard" ? { action: "change", body: redacted(body) } : { action: "allow" },
      ),
    );
    await (await post("/v1/messages", chat("secret words", { max_tokens: 50 }))).text();
    const [, second] = hooked.hook.requests;
    expect(second!.path).toBe("/lenient");
    expect(second!.text).toContain("[gone]");
  });

  it("T76: is also sent to a fallback, and the hook is called only once", async () => {
    hooked.hook.answer(decide(({ body }) => ({ action: "change", body: redacted(body) })));
    await hooked.bench.received(/./);
    const failing = `secret words\n#sandbox ${JSON.stringify({ status: 500, times: 1 })}`;
    const answer = await post(chatPath, chat(failing, { model: "sandbox/multi" }));
    expect(answer.status).toBe(200);
    await answer.text();
    const sent = await hooked.bench.received(/./);
    expect(sent.length).toBeGreaterThan(1);
    for (const { body } of sent) {
      expect(JSON.stringify(body)).toContain("[gone]");
      expect(JSON.stringify(body)).not.toContain("secret words");
    }
    expect(hooked.hook.requests).toHaveLength(1);
  });

  it("is refused with 400 if a field is out of its domain", async () => {
    hooked.hook.answer(
      decide(({ body }) => ({ action: "change", body: { ...body, temperature: 99 } })),
    );
    const answer = await post(chatPath, chat("Hello"));
    expect(answer.status).toBe(400);
    expect(await refusalOf(answer)).toMatchObject({ param: "temperature" });
  });

  it("is refused with 403 if its new model is not on the key's allowlist", async () => {
    const { database } = hooked.bench;
    const context = { database, clock: systemClock };
    const [key] = await database.query<{ id: string }>(
      "select id from api_keys where workspace_id = $1",
      [hooked.bench.workspaceId],
    );
    await changeKey(context, key!, { modelAllowlist: ["sandbox/chat"] });
    hooked.hook.answer(decide(() => ({ action: "change", model: "sandbox/messages" })));
    const answer = await post(chatPath, chat("Hello"));
    expect([answer.status, await refusalOf(answer)]).toMatchObject([
      403,
      { code: "model_not_allowed" },
    ]);
    await changeKey(context, key!, { modelAllowlist: [] });
  });

  it("may hold a long text in another alphabet: limits count bytes", async () => {
    hooked.hook.answer(decide(({ body }) => ({ action: "change", body: redacted(body) })));
    const answer = await post(chatPath, chat(`secret words ${"字".repeat(1_200_000)}`));
    // The text is too long for the model; the gateway reports that after it has asked the hook.
    const text = await answer.text();
    expect([answer.status, text]).not.toEqual([503, expect.stringContaining("hook_failed")]);
    const row = await logged(hooked.bench, answer.headers.get("x-request-id")!);
    expect(row["explanation"]).toMatchObject({ hooks: [{ hook: "guard", outcome: "changed" }] });
  });

  it("replaces the caller's fallback models if it names another model", async () => {
    const headers = { "x-gw-fallback-models": "sandbox/messages" };
    const script = { status: 500, only: ["chat"] };
    const failing = chat(`Hello\n#sandbox ${JSON.stringify(script)}`, {
      model: "sandbox/responses",
    });
    hooked.hook.answer(decide(() => ({ action: "change", model: "sandbox/chat" })));
    await hooked.bench.received(/./);
    const answer = await hooked.bench.send("POST", chatPath, { body: failing, headers });
    expect(eventOf(hooked.hook.requests[0]!)["fallback_models"]).toBe("sandbox/messages");
    expect(answer.status).toBeGreaterThanOrEqual(500);
    await answer.text();
    const sent = await hooked.bench.received(/./);
    expect(new Set(sent.map(({ path }) => path)).size).toBe(1);
    const row = await logged(hooked.bench, answer.headers.get("x-request-id")!);
    expect(row["notes"]).toContain('x-gw-fallback-models: removed by the hook "guard"');
  });

  it("token counts at an endpoint with a hook are estimated, and not sent to a vendor", async () => {
    await hooked.bench.received(/./);
    const body = chat("secret words", { model: "sandbox/messages", max_tokens: 5 });
    const answer = await post("/v1/messages/count_tokens", body);
    expect(await answer.json()).toMatchObject({ input_tokens: expect.any(Number) as number });
    expect(await hooked.bench.received(/./)).toEqual([]);
    expect(hooked.hook.requests).toEqual([]);
  });

  it("a member that stands twice in a body reaches the hook as the gateway reads it", async () => {
    const text = `{"model":"sandbox/chat","messages":[{"role":"user","content":"good"}],"messages":[{"role":"user","content":"evil"}]}`;
    const answer = await hooked.bench.post(chatPath, text);
    await answer.text();
    expect(hooked.hook.requests[0]!.text).toContain("evil");
    expect(hooked.hook.requests[0]!.text).not.toContain("good");
  });

  it("is refused without a charge if its new model is of another kind", async () => {
    const before = await charges(hooked.bench);
    hooked.hook.answer(decide(() => ({ action: "change", model: "sandbox/image-model-a" })));
    const answers = await Promise.all([
      post(chatPath, chat("Hello")),
      post(chatPath, chat("Hello", { stream: true })),
      post("/v1beta/models/sandbox/chat:generateContent", {
        contents: [{ parts: [{ text: "x" }] }],
      }),
    ]);
    for (const answer of answers) {
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain("sandbox/image-model-a");
    }
    expect(await charges(hooked.bench)).toBe(before);
  });

  it("a call with an unknown key never reaches a hook", async () => {
    const answer = await hooked.bench.send("POST", chatPath, {
      key: "gw_live_x",
      body: chat("Hi"),
    });
    expect(answer.status).toBe(401);
    expect(hooked.hook.requests).toEqual([]);
  });
});

describe("a hook before images and tasks", () => {
  const picture = { model: "sandbox/image-model-a", prompt: "secret words", size: "1024x1024" };

  it("changes an image's prompt, and the answer names the changed field", async () => {
    hooked.hook.answer(decide(({ body }) => ({ action: "change", body: redacted(body) })));
    await hooked.bench.received(/./);
    const answer = await post("/v1/images/generations", picture);
    expect(answer.status).toBe(200);
    await answer.text();
    expect(answer.headers.get("x-gw-dropped-params")).toContain("prompt");
    const [sent] = await hooked.bench.received(/images/);
    expect(sent!.body["prompt"]).toBe("[gone]");
  });

  it("refuses an image", async () => {
    hooked.hook.answer(decide(() => ({ action: "refuse" })));
    const answer = await post("/v1/images/generations", picture);
    expect(answer.status).toBe(403);
    expect(await refusalOf(answer)).toMatchObject({ code: "hook_refused" });
  });

  it("changes a task before it is stored, leaves no task when it refuses, and is not called for a repeated idempotency key", async () => {
    const task = { model: "sandbox/task-image-model-1", prompt: "secret words" };
    hooked.hook.answer(decide(({ body }: Event) => ({ action: "change", body: redacted(body) })));
    const headers = { "idempotency-key": "once" };
    const made = await hooked.bench.create(task, headers);
    expect(made.notes).toContain('prompt: changed by the hook "guard"');
    const { length } = hooked.hook.requests;
    expect((await hooked.bench.create(task, headers)).id).toBe(made.id);
    expect(hooked.hook.requests).toHaveLength(length);
    const noAddress = await post("/v1/tasks", { ...task, webhook_url: "" });
    expect(await refusalOf(noAddress)).toMatchObject({ code: "invalid_webhook_url" });
    const [row] = await hooked.bench.database.query<{ request: { prompt: string } }>(
      "select request from tasks where id = $1",
      [made.id],
    );
    expect(row!.request.prompt).toBe("[gone]");
    hooked.hook.answer(decide(() => ({ action: "refuse", message: "No boats." })));
    const refused = await post("/v1/tasks", task);
    expect([refused.status, await refusalOf(refused)]).toMatchObject([
      403,
      { code: "hook_refused", message: "No boats." },
    ]);
    await hooked.bench.until(made.id, "succeeded");
    const { explanation } = await logged(hooked.bench, made.id);
    expect(explanation).toMatchObject({ hooks: [{ hook: "guard", outcome: "changed" }] });
    const kept = await hooked.bench.database.query("select id from tasks");
    expect(kept).toHaveLength(1);
  });
});

it("the ledger has no differences after all these calls", () => expectBooks(hooked.bench));
