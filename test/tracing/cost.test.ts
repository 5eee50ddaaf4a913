/**
 * What tracing costs the processor for each call: its two spans, from their start to the bytes that leave. It is 5 to 8 µs on a
 * busy machine, where a whole answer takes 190 µs or more (docs/monitoring.md). The SDK's spans and serializer took 20 to 30.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openTracing, type Tracing } from "../../src/tracing/index.ts";
import { costMs } from "../support/cost.ts";
import { eventually } from "../support/patience.ts";

/** In a process of its own: what a collector does is not what the gateway does. */
const sink = `
const { createServer } = require("node:http");
createServer((request, response) => request.resume().on("end", () => response.end()))
  .listen(0, "127.0.0.1", function () { console.log(this.address().port); });
`;
const child = spawn(process.execPath, ["-e", sink], { stdio: ["ignore", "pipe", "inherit"] });
let tracing: Tracing;
beforeAll(async () => {
  const port = await new Promise<string>((resolve) =>
    createInterface({ input: child.stdout }).once("line", resolve),
  );
  tracing = openTracing(
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
});
afterAll(async () => {
  await tracing.close();
  child.kill();
});

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

it("the spans of a call cost a few microseconds", async () => {
  await traces(20_000);
  const calls = 20_000;
  const costs: number[] = [];
  for (let round = 0; round < 3; round += 1)
    costs.push(((await costMs(() => traces(calls))) * 1_000) / calls);
  const cost = Math.min(...costs);
  expect(cost).toBeLessThan(12);
  expect(tracing.counts().dropped).toBe(0);
});
