/**
 * A collector that is away, hangs, refuses or lies: calls are as fast as before, spans that it does not take are dropped and
 * counted, and memory does not grow. docs/monitoring.md.
 */
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { openTracing, type TracingOptions } from "../../src/tracing/index.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { startCollector, type Collector } from "../support/otlp.ts";
import { eventually } from "../support/patience.ts";

let collector: Collector;
let gateway: GatewayUnderTest;
beforeAll(async () => {
  collector = await startCollector();
  gateway = await startTestGateway({
    environment: {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/any/path`,
      OTEL_EXPORTER_OTLP_TIMEOUT: "60000",
      OTEL_BSP_SCHEDULE_DELAY: "5",
      OTEL_BSP_MAX_QUEUE_SIZE: "20",
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "4",
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await collector.close();
});

const hello = { model: "sandbox/chat", messages: [{ role: "user", content: "Hello!" }] };
async function call(): Promise<void> {
  const response = await gateway.post("/v1/chat/completions", hello);
  expect(response.status).toBe(200);
  await response.text();
}

it("a collector that hangs delays no call, and the gateway's end does not wait for exports in flight", async () => {
  await call();
  await eventually(() => collector.requests.length > 0, "a first export");
  expect(collector.requests[0]!.path).toBe("/any/path");
  collector.answer(() => undefined);
  const before = collector.requests.length;
  for (let index = 0; index < 60; index += 1) await call();
  // Two exports never end. The rest waits in a queue of 20, or is dropped.
  await eventually(() => collector.requests.length === before + 2, "two exports under way");
  const startedMs = performance.now();
  await gateway.close();
  // An export's timeout is a minute. The next test measures the two seconds on a clock of its own.
  expect(performance.now() - startedMs).toBeLessThan(30_000);
});

const options = (url: string, more: Partial<TracingOptions> = {}): TracingOptions => ({
  url,
  headers: {},
  gzip: false,
  timeoutMs: 300,
  sample: 1,
  followsParent: true,
  propagate: "local",
  resource: { "service.name": "test" },
  version: "1",
  queue: { waitingMax: 100, batchMax: 10, delayMs: 5 },
  ...more,
});

it("a collector that hangs delays the end of tracing by two seconds, and the spans that wait are dropped", async () => {
  const other = await startCollector();
  other.answer(() => undefined);
  const tracing = openTracing(
    options(`${other.url}/v1/traces`, {
      timeoutMs: 60_000,
      queue: { waitingMax: 100, batchMax: 1, delayMs: 5 },
    }),
    { warn: () => undefined },
  );
  for (const [spans, exports] of [
    [1, 1],
    [49, 2],
  ] as const) {
    for (let index = 0; index < spans; index += 1) tracing.tracer.start("internal", "work").end();
    await eventually(() => other.requests.length === exports, `${exports} exports under way`);
  }
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let sawEnd = false;
  const closed = tracing.close().then(() => (sawEnd = true));
  await vi.advanceTimersByTimeAsync(1_999);
  expect([sawEnd, tracing.counts().dropped]).toEqual([false, 0]);
  await vi.advanceTimersByTimeAsync(1);
  expect(tracing.counts().dropped).toBe(48);
  // Closing the connections has a tenth of a second more.
  await vi.advanceTimersByTimeAsync(100);
  await closed;
  vi.useRealTimers();
  await other.close();
});

const troubles: readonly (readonly [string, (response: ServerResponse) => void])[] = [
  ["refuses", (response) => void response.writeHead(400).end("no")],
  [
    "asks to come again in an hour",
    (response) => void response.writeHead(503, { "retry-after": "3600" }).end(),
  ],
  ["never answers", () => undefined],
  [
    "answers without an end",
    (response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(65_536);
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", more);
      more();
    },
  ],
  ["closes the connection", (response) => void response.destroy()],
  ["does not answer with protobuf", (response) => void response.writeHead(200).end("<html>")],
];

it.each(troubles)(
  "a collector that %s loses spans, and has no other effect",
  async (what, answer) => {
    const other = await startCollector();
    other.answer(answer);
    const warnings: object[] = [];
    const tracing = openTracing(
      options(`${other.url}/v1/traces`, { headers: { key: "k-secret" } }),
      {
        warn: (fields) => void warnings.push(fields),
      },
    );
    const made = 1_000;
    for (let index = 0; index < made; index += 1) tracing.tracer.start("internal", "work").end();
    const total = () => Object.values(tracing.counts()).reduce((sum, one) => sum + one, 0);
    await eventually(() => total() === made, "every span to be sent, refused or dropped");
    const { sent, dropped, refused } = tracing.counts();
    // If the collector answered 200, the spans count as sent.
    expect([sent, refused]).toEqual(what === "does not answer with protobuf" ? [100, 0] : [0, 100]);
    expect(dropped).toBe(900);
    // One line for all of them.
    expect(warnings).toHaveLength(refused === 0 ? 0 : 1);
    expect(JSON.stringify(warnings)).not.toContain("k-secret");
    await tracing.close();
    await other.close();
  },
);

it.each([
  ["some", 3, [7, 3]],
  ["more than there were", 127, [0, 10]],
])(
  "spans that a collector refuses within a good answer count as refused, and its reason is logged: %s",
  async (_what, rejected, expected) => {
    const other = await startCollector();
    const reason = Buffer.from("too many attributes");
    // ExportTraceServiceResponse: partial_success (1) with rejected_spans (1) and error_message (2).
    const part = Buffer.concat([Buffer.from([0x08, rejected, 0x12, reason.length]), reason]);
    const body = Buffer.concat([Buffer.from([0x0a, part.length]), part]);
    other.answer((response) => void response.writeHead(200).end(body));
    const warnings: object[] = [];
    const tracing = openTracing(options(`${other.url}/v1/traces`), {
      warn: (fields) => void warnings.push(fields),
    });
    for (let index = 0; index < 10; index += 1) tracing.tracer.start("internal", "work").end();
    await eventually(() => warnings.length === 1, "the warning");
    const { sent, refused } = tracing.counts();
    expect([sent, refused]).toEqual(expected);
    expect(warnings).toEqual([{ spans: refused, reason: "too many attributes" }]);
    await tracing.close();
    await other.close();
  },
);

it("a collector that cannot be reached loses spans, and has no other effect", async () => {
  const closedCollector = await startCollector();
  await closedCollector.close();
  const tracing = openTracing(options(`${closedCollector.url}/v1/traces`), {
    warn: () => undefined,
  });
  tracing.tracer.start("internal", "work").end();
  await eventually(() => tracing.counts().refused === 1, "the span to be given up");
  await tracing.close();
});

it("headers that the environment sets for another collector are not sent", async () => {
  const other = await startCollector();
  const headers = "OTEL_EXPORTER_OTLP_HEADERS";
  process.env[headers] = "x-other=secret";
  try {
    const tracing = openTracing(options(`${other.url}/v1/traces`, { headers: { "x-own": "1" } }), {
      warn: () => undefined,
    });
    tracing.tracer.start("internal", "work").end();
    await eventually(() => other.requests.length === 1, "the export");
    await tracing.close();
  } finally {
    delete process.env[headers];
  }
  expect(other.requests[0]!.headers).toMatchObject({ "x-own": "1" });
  expect(other.requests[0]!.headers).not.toHaveProperty("x-other");
  await other.close();
});

it("a share of the traces is sampled; a caller's sampled flag overrides the share, unless followsParent is off", async () => {
  const sampled = (more: Partial<TracingOptions>, traceparent?: string): number => {
    const tracing = openTracing(options("http://127.0.0.1:1/v1/traces", more), {
      warn: () => undefined,
    });
    const spans = Array.from({ length: 2_000 }, () =>
      tracing.tracer.start("server", "x", traceparent),
    );
    void tracing.close();
    return spans.filter(({ isSampled }) => isSampled).length;
  };
  expect(sampled({ sample: 0 })).toBe(0);
  expect(sampled({ sample: 1 })).toBe(2_000);
  expect(sampled({ sample: 0.25 })).toBeGreaterThan(380);
  expect(sampled({ sample: 0.25 })).toBeLessThan(620);
  const wanted = `00-${"f".repeat(32)}-${"1".repeat(16)}-01`;
  expect(sampled({ sample: 0 }, wanted)).toBe(2_000);
  expect(sampled({ sample: 0, followsParent: false }, wanted)).toBe(0);
});
