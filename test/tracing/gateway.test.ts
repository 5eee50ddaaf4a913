/**
 * Traces of a whole gateway, read back from a collector: the request, the failed and the successful attempt, their trace, and
 * no secrets. docs/monitoring.md.
 */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { steadyHealthRules } from "../support/steady-health.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { startCollector, type Collector, type ReceivedSpan } from "../support/otlp.ts";
import { eventually } from "../support/patience.ts";
import { startRecorder, type Recorder } from "../support/recorder.ts";
import { startReceiver } from "../webhooks/support.ts";

const secret = "a-secret-of-the-caller";
const vendorKey = "sk-vendor-0123456789";
const collectorKey = "collector-key-0123456789";
const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentId = "00f067aa0ba902b7";
const traceparent = `00-${traceId}-${parentId}-01`;

let collector: Collector;
let failing: Recorder;
let answering: Recorder;
let gateway: GatewayUnderTest;

const answer = {
  id: "1",
  object: "chat.completion",
  created: 1,
  model: "m-of-answering",
  choices: [{ index: 0, message: { role: "assistant", content: secret }, finish_reason: "stop" }],
  usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
};
const frames = [
  { ...answer, object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: "x" } }] },
  {
    ...answer,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
  },
];

const provider = (id: string, url: string) =>
  `  - { id: ${id}, dialect: openai-compatible, base_url: "${url}/v1", api_key: ${vendorKey} }`;
const offer = (id: string, weight: number) =>
  `      - { provider: ${id}, protocol: chat, weight: ${weight}, upstream_model: m-of-${id}, price: { input: "1", output: "2" } }`;

beforeAll(async () => {
  collector = await startCollector();
  failing = await startRecorder(
    (_request, response) =>
      void response.writeHead(503, { "content-type": "application/json" }).end('{"error":{}}'),
  );
  answering = await startRecorder(({ body }, response) => {
    if (body["stream"] !== true)
      return void response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify(answer));
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const frame of frames) response.write(`data: ${JSON.stringify(frame)}\n\n`);
    response.end("data: [DONE]\n\n");
  });
  gateway = await startTestGateway({
    sandbox: "on",
    health: steadyHealthRules,
    tasks: { timing: { firstPollMs: 20, sweepMs: 50 } },
    environment: {
      TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on",
      TOLLGATE_INITIAL_CREDIT: "100",
      OTEL_SERVICE_NAME: "tollgate-under-test",
      OTEL_EXPORTER_OTLP_HEADERS: `x-collector=${collectorKey}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: "20",
    },
    config: `providers:
${provider("failing", failing.url)}
${provider("answering", answering.url)}
models:
  - id: acme/talk
    kind: text
    context_length: 1000
    max_output_tokens: 100
    offers:
${offer("failing", 1)}
${offer("answering", 0)}
`,
  });
});
afterAll(async () => {
  await gateway.close();
  await Promise.all([collector, failing, answering].map((one) => one.close()));
});
beforeEach(() => {
  collector.spans.length = 0;
  failing.requests.length = 0;
  answering.requests.length = 0;
});

const call = (more: object = {}, headers: Record<string, string> = {}) =>
  gateway.post(
    "/v1/chat/completions",
    {
      model: "acme/talk",
      messages: [{ role: "user", content: secret }],
      ...more,
    },
    headers,
  );

const textOf = (spans: readonly ReceivedSpan[]): string =>
  JSON.stringify(spans, (_key, value: unknown) => (typeof value === "bigint" ? `${value}` : value));

/** The spans of the request with this answer, and of everything below it. */
async function traceOf(response: Response): Promise<ReceivedSpan[]> {
  await response.text();
  const id = response.headers.get("x-request-id");
  const root = await eventually(
    () => collector.spans.find(({ attributes }) => attributes["tollgate.request_id"] === id),
    "the request's span",
  );
  return collector.spans.filter((span) => span.traceId === root.traceId);
}

it("a request has a span in the caller's trace, with a span for the failed and for the successful attempt", async () => {
  const response = await call({}, { traceparent });
  expect(response.status).toBe(200);
  const spans = await traceOf(response);
  const root = spans.find(({ kind }) => kind === 2)!;
  expect(root).toMatchObject({
    traceId,
    parentSpanId: parentId,
    name: "POST /v1/chat/completions",
    status: 0,
    resource: { "service.name": "tollgate-under-test" },
    attributes: {
      "http.request.method": "POST",
      "http.route": "/v1/chat/completions",
      "http.response.status_code": 200,
      "tollgate.workspace_id": gateway.workspaceId,
      "tollgate.model": "acme/talk",
      "tollgate.protocol": "chat",
      "tollgate.status": "succeeded",
      "tollgate.attempts": 2,
      "tollgate.cost_usd": 0.000017,
    },
  });
  const attempts = spans.filter(({ kind }) => kind === 3);
  expect(attempts).toHaveLength(2);
  for (const attempt of attempts) {
    expect(attempt.parentSpanId).toBe(root.spanId);
    expect(attempt.startNano >= root.startNano && attempt.endNano <= root.endNano).toBe(true);
    expect(attempt.endNano).toBeGreaterThan(attempt.startNano);
  }
  const [first, second] = attempts;
  expect(first).toMatchObject({
    name: "chat m-of-failing",
    status: 2,
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "failing",
      "gen_ai.request.model": "m-of-failing",
      "http.response.status_code": 503,
      "error.type": expect.any(String),
      "server.address": "127.0.0.1",
    },
  });
  expect(first!.attributes).not.toHaveProperty("gen_ai.usage.input_tokens");
  expect(second).toMatchObject({
    name: "chat m-of-answering",
    status: 0,
    attributes: {
      "gen_ai.provider.name": "answering",
      "http.response.status_code": 200,
      "gen_ai.response.model": "m-of-answering",
      "gen_ai.usage.input_tokens": 7,
      "gen_ai.usage.output_tokens": 5,
    },
  });
  // Each provider receives its own attempt as the parent.
  const seen = [failing, answering].map(({ requests }) => requests[0]!.headers["traceparent"]);
  expect(seen).toEqual(attempts.map(({ spanId }) => `00-${traceId}-${spanId}-01`));
  expect(textOf(collector.spans)).not.toMatch(
    new RegExp([secret, vendorKey, collectorKey, gateway.key].join("|")),
  );
  expect(collector.requests.at(-1)).toMatchObject({
    path: "/v1/traces",
    headers: { "x-collector": collectorKey, "content-type": "application/x-protobuf" },
  });
});

it("a stream records when its first chunk came, and requests without a traceparent have traces of their own", async () => {
  const both = await Promise.all([call({ stream: true }), call({ stream: true })]);
  const traces = await Promise.all(both.map(traceOf));
  expect(new Set(traces.flat().map(({ traceId }) => traceId)).size).toBe(2);
  for (const spans of traces) {
    expect(spans.find(({ kind }) => kind === 2)!.parentSpanId).toBe("");
    const answered = spans.find(({ kind, status }) => kind === 3 && status === 0)!;
    expect(answered.attributes).toMatchObject({
      "gen_ai.request.stream": true,
      "gen_ai.usage.output_tokens": 5,
    });
    expect(answered.attributes["gen_ai.response.time_to_first_chunk"]).toBeGreaterThanOrEqual(0);
  }
});

const invalidTraceparents = [
  "",
  "00",
  `00-${"0".repeat(32)}-${parentId}-01`,
  `00-${traceId}-${"0".repeat(16)}-01`,
  `ff-${traceId}-${parentId}-01`,
  `00-${traceId.toUpperCase()}-${parentId}-01`,
  `00-${traceId}-${parentId}-01-more`,
  `00-${traceId}-${parentId}-01\tx-evil: 1`,
  `01-${traceId}-${parentId}-01-${"x".repeat(300)}`,
  "x".repeat(5_000),
];

it.each(invalidTraceparents.map((value) => [value.slice(0, 80), value]))(
  "an invalid traceparent is ignored: %j",
  async (_, value) => {
    const response = await call({}, { traceparent: value });
    expect(response.status).toBe(200);
    const root = (await traceOf(response)).find(({ kind }) => kind === 2)!;
    expect(root.traceId).not.toBe(traceId);
    expect(root.parentSpanId).toBe("");
    expect(answering.requests[0]!.headers["traceparent"]).toMatch(
      new RegExp(`^00-${root.traceId}-[0-9a-f]{16}-01$`),
    );
  },
);

it("a request whose traceparent is not sampled has no spans, and the provider gets an unsampled traceparent", async () => {
  const response = await call({}, { traceparent: `00-${traceId}-${parentId}-00` });
  expect(response.status).toBe(200);
  await response.text();
  expect(answering.requests[0]!.headers["traceparent"]).toMatch(
    new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`),
  );
  await traceOf(await call());
  expect(collector.spans.filter((span) => span.traceId === traceId)).toEqual([]);
});

it("a cost of 0 is a double like all others: backends take an attribute's type from its first value", async () => {
  const spans = await traceOf(await call({ model: "acme/unknown" }));
  const root = spans.find(({ kind }) => kind === 2)!;
  expect(root.attributes["tollgate.cost_usd"]).toBe(0);
  expect(root.doubles).toEqual(["tollgate.cost_usd"]);
});

it("a ledger batch has a span", async () => {
  await traceOf(await call());
  const batch = await eventually(
    () => collector.spans.find(({ name }) => name === "ledger batch"),
    "a batch",
  );
  expect(batch.attributes).toMatchObject({ "db.system.name": "postgresql" });
  expect(batch.attributes["tollgate.ledger.keys"]).toBeGreaterThan(0);
});

const sandboxModels = ["chat", "responses", "messages", "generate-content"];

it.each(sandboxModels.flatMap((model) => [true, false].map((stream) => ({ model, stream }))))(
  "the attempt at sandbox/$model names the model that answered, stream $stream",
  async ({ model, stream }) => {
    const spans = await traceOf(await call({ model: `sandbox/${model}`, stream }));
    const attempts = spans.filter(({ kind }) => kind === 3);
    expect(attempts.map(({ attributes }) => attributes["gen_ai.response.model"])).toEqual([
      "sandbox-large-2026-10-01",
    ]);
  },
);

it("a task's steps and its callback are in the trace of its submission", async () => {
  const receiver = await startReceiver(500, 200);
  const response = await gateway.post(
    "/v1/tasks",
    {
      model: "sandbox/video-model-v1",
      prompt: `${secret}\n#sandbox {}`,
      duration: 2,
      webhook_url: `${receiver.url}?${secret}`,
    },
    { traceparent },
  );
  const { id } = (await response.json()) as { id: string };
  const spans = await eventually(() => {
    const ours = collector.spans.filter((span) => span.traceId === traceId);
    return ours.some(({ name }) => name === "callback") ? ours : undefined;
  }, "the callback's span");
  const root = spans.find(({ kind }) => kind === 2)!;
  expect(root).toMatchObject({ name: "POST /v1/tasks", parentSpanId: parentId });
  const steps = spans.filter(({ name }) => name.startsWith("task "));
  expect(steps.map(({ name }) => name)).toEqual(expect.arrayContaining(["task ask", "task poll"]));
  for (const { parentSpanId, attributes } of steps) {
    expect(parentSpanId).toBe(root.spanId);
    expect(attributes).toMatchObject({
      "tollgate.task_id": id,
      "gen_ai.output.type": "video",
      "gen_ai.operation.name": "generate_content",
    });
  }
  expect(steps.at(-1)!.attributes["tollgate.status"]).toBe("succeeded");
  const callback = spans.find(({ name }) => name === "callback")!;
  expect(callback).toMatchObject({
    parentSpanId: root.spanId,
    status: 2,
    attributes: {
      "tollgate.event_type": "task.succeeded",
      "http.response.status_code": 500,
      "server.address": new URL(receiver.url).hostname,
      "server.port": Number(new URL(receiver.url).port),
    },
  });
  expect(textOf(spans)).not.toContain(secret);
});
