/**
 * Measures what the spans of a call cost (cost.test.ts): in a process of its own, because what earlier files left in a worker's
 * heap is collected on its threads, and would count as ours. Sends the cost of a call in µs of the usual machine, and what was dropped.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setImmediate as turn } from "node:timers/promises";
import { openTracing } from "../../src/tracing/index.ts";
import { costMs } from "../support/cost.ts";
import { eventually } from "../support/patience.ts";

export interface Measured {
  readonly costUs: number;
  readonly dropped: number;
}

/** In a process of its own: what a collector does is not what the gateway does. */
const sink = `
const { createServer } = require("node:http");
createServer((request, response) => request.resume().on("end", () => response.end()))
  .listen(0, "127.0.0.1", function () { console.log(this.address().port); });
`;
const child = spawn(process.execPath, ["-e", sink], { stdio: ["ignore", "pipe", "inherit"] });
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

/** The spans that a text call has, with what they say. */
function trace(): void {
  const request = tracing.tracer.start("server", "POST /v1/chat/completions");
  request.keep();
  const attempt = request.child("client", "attempt");
  attempt.passedTo("http://127.0.0.1:1/v1");
  attempt.name = "chat model-of-the-vendor";
  attempt.set({
    "gen_ai.provider.name": "openai",
    "server.address": "api.openai.com",
    "server.port": 443,
    "tollgate.provider": "openai",
  });
  attempt.set({
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "model-of-the-vendor",
    "http.response.status_code": 200,
    "tollgate.credential": "default",
  });
  attempt.set({ "gen_ai.usage.input_tokens": 1_200, "gen_ai.usage.output_tokens": 340 });
  attempt.end();
  request.set({
    "tollgate.workspace_id": "ws_01jd4m8q2v9x3t7k5r1w6y0zna",
    "tollgate.protocol": "chat",
    "tollgate.model": "openai/model",
    "tollgate.stream": false,
    "tollgate.status": "succeeded",
    "tollgate.attempts": 1,
    "tollgate.cost_usd": 0.00123,
  });
  request.end();
  request.set({
    "http.request.method": "POST",
    "http.route": "/v1/chat/completions",
    "http.response.status_code": 200,
    "tollgate.request_id": "req_01jd4m8q2v9x3t7k5r1w6y0zna",
    "tollgate.key_id": "key_01jd4m8q2v9x3t7k5r1w6y0zna",
  });
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
