/**
 * Measures the cost of a call's spans (cost.test.ts). In a process of its own: otherwise the garbage collection of earlier
 * files' heap would count too. Sends the cost of a call in µs of a standard machine, and the number of dropped spans.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setImmediate as turn } from "node:timers/promises";
import { endAttempt } from "../../src/attempts/trace.ts";
import { newId } from "../../src/base/ids.ts";
import { sharedParts } from "../../src/base/shared-parts.ts";
import type { AnyRecord } from "../../src/calls/record.ts";
import { traceCall } from "../../src/calls/trace.ts";
import type { Provider } from "../../src/catalog/index.ts";
import { openTracing } from "../../src/tracing/index.ts";
import { costMs } from "../support/cost.ts";
import { eventually } from "../support/patience.ts";

export interface Measured {
  readonly costUs: number;
  readonly dropped: number;
}

/** A process of its own, so that the collector's cost does not count as the gateway's. */
const collectorProgram = `
const { createServer } = require("node:http");
createServer((request, response) => request.resume().on("end", () => response.end()))
  .listen(0, "127.0.0.1", function () { console.log(this.address().port); });
`;
const child = spawn(process.execPath, ["-e", collectorProgram], {
  stdio: ["ignore", "pipe", "inherit"],
});
const port = await new Promise<string>((resolve) =>
  createInterface({ input: child.stdout }).once("line", resolve),
);
const tracing = openTracing(
  {
    url: `http://127.0.0.1:${port}/v1/traces`,
    headers: {},
    gzip: false,
    timeoutMs: 10_000,
    sample: 1,
    followsParent: true,
    propagate: "local",
    resource: { "service.name": "test" },
    version: "1",
    queue: { waitingMax: 100_000, batchMax: 512, delayMs: 10 },
  },
  { warn: () => undefined },
);

const requestPart = sharedParts((route: string, method: string, status: number) => ({
  name: `${method} ${route}`,
  attributes: {
    "http.request.method": method,
    "http.route": route,
    "http.response.status_code": status,
  },
}));
const provider = { id: "openai", dialect: "openai", baseUrl: "http://127.0.0.1:1/v1" } as Provider;
const attemptFields = {
  credential: "default",
  upstream_model: "model-of-the-vendor",
  status: 200,
  outcome: "ok",
  started_ms: 1,
};
const callFields = {
  workspaceId: "ws_01jd4m8q2v9x3t7k5r1w6y0zna",
  protocol: "chat",
  model: "openai/model",
  stream: false,
  status: "succeeded",
  errorCode: null,
  httpStatus: 200,
  attempts: [attemptFields],
  costNano: 1_230_000n,
  answeredBy: "model-of-the-vendor",
  metered: { usage: { inputTokens: 1_200, outputTokens: 340 }, source: "upstream" },
};
const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/** Makes the spans of a text call, with their attributes. */
function trace(): void {
  const request = tracing.tracer.start("server", "POST", traceparent, performance.now());
  request.keep();
  const attempt = request.child("client", "attempt");
  attempt.passedTo(provider.baseUrl);
  const record = { ...callFields, span: request } as unknown as AnyRecord;
  endAttempt(attempt, { provider, attempt: attemptFields, record });
  traceCall(record);
  request.share(requestPart("/v1/chat/completions", "POST", 200));
  request.add("tollgate.request_id", newId("req"));
  request.add("tollgate.key_id", "key_01jd4m8q2v9x3t7k5r1w6y0zna");
  request.end();
}

async function traces(calls: number): Promise<void> {
  const before = tracing.counts().sent;
  for (let made = 0; made < calls; made += 20) {
    for (let index = 0; index < 20; index += 1) trace();
    await turn();
  }
  await eventually(() => tracing.counts().sent === before + 2 * calls, "all spans to leave");
}

await traces(20_000);
const calls = 20_000;
const costs: number[] = [];
for (let round = 0; round < 3; round += 1)
  costs.push(((await costMs(() => traces(calls))) * 1_000) / calls);
const measured: Measured = { costUs: Math.min(...costs), dropped: tracing.counts().dropped };
await tracing.close();
child.kill();
process.send?.(measured);
process.disconnect?.();
