// Requests of agents are large, and their answers take long. Once a request is sent, the gateway keeps only its bytes. Once a
// stream has begun, it keeps nothing of the request, neither in memory nor in the budget for bodies. All requests together would
// exceed that budget.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { tollgateHere } from "../support/command.ts";
import { shortOrLong } from "../support/long.ts";
import { memoryProbe, type MemoryProbe } from "../support/memory.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { spawnGateway, type GatewayProcess } from "../support/process.ts";
import { startTicking, type Ticking } from "./ticking.ts";

/** In the budget a body counts more than twice its length: 60 streams with their requests would not fit. */
const underWayMb = 8;
const streams = shortOrLong(60, 400);
const openedAtOnce = 20;
const streamKbMax = shortOrLong(60, 40);

let gateway: GatewayProcess;
let ticking: Ticking;
let directory: string;
let probe: MemoryProbe;

const configuration = (): string => `
limits: { body_mb: 1, text_body_mb: 1, bodies_under_way_mb: ${underWayMb} }
providers:
  - { id: ticking, dialect: openai-compatible, base_url: "${ticking.url}/v1", api_key: none, tier: community }
models:
  - id: acme/ticking
    kind: text
    context_length: 200000
    max_output_tokens: 32000
    offers:
      - { provider: ticking, protocol: chat, upstream_model: m, price: { input: "0.5", output: "2" } }
`;

beforeAll(async () => {
  ticking = await startTicking();
  directory = mkdtempSync(join(tmpdir(), "tollgate-held-bodies-"));
  const config = join(directory, "tollgate.yaml");
  writeFileSync(config, configuration());
  probe = memoryProbe(directory);
  const environment = {
    TOLLGATE_CONFIG: config,
    TOLLGATE_DATA_DIR: directory,
    DATABASE_URL: await (await sharedPostgres()).createMigrated(),
  };
  gateway = await spawnGateway({ ...environment, ...probe.environment });
  await tollgateHere(["credits", "add", "100000"], environment);
});
afterAll(async () => {
  await gateway.kill();
  ticking.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Forty turns of 3 kB. */
const turns = Array.from({ length: 40 }, (_, index) => `${index} ${"It says: é. ".repeat(230)}`);
const roleOf = (index: number): string => (index % 2 === 0 ? "user" : "assistant");
const messages = turns.map((content, index) => ({ role: roleOf(index), content }));
const common = { model: "acme/ticking", stream: true, max_tokens: 64 };
const contents = turns.map((text, index) => ({
  role: index % 2 === 0 ? "user" : "model",
  parts: [{ text }],
}));
const responses = { model: common.model, stream: true, input: messages };

/** Reads an open stream, whose first frame has arrived, to its end. */
type ReadToEnd = () => Promise<string>;

const post = (path: string, body: string): Promise<Response> =>
  fetch(`${gateway.url}${path}`, {
    method: "POST",
    body,
    headers: {
      authorization: `Bearer ${/gw_live_\w+/.exec(gateway.banner)![0]}`,
      "content-type": "application/json",
    },
  });

async function open(path: string, body: object): Promise<ReadToEnd> {
  const answer = await post(path, JSON.stringify(body));
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = `${answer.status} `;
  while (!/ at[\d.]+;/.test(text)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`it ended with ${text}`);
    text += value;
  }
  return async () => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return text;
      text += value;
    }
  };
}

async function openAll(count: number, path: string, body: object): Promise<ReadToEnd[]> {
  const rests: ReadToEnd[] = [];
  while (rests.length < count) {
    const wave = Array.from({ length: Math.min(openedAtOnce, count - rests.length) }, () =>
      open(path, body),
    );
    rests.push(...(await Promise.all(wave)));
  }
  return rests;
}

async function close(rests: readonly ReadToEnd[]): Promise<string[]> {
  ticking.end();
  return Promise.all(rests.map((rest) => rest()));
}

const all = [
  { to: "/v1/chat/completions", body: { ...common, messages }, end: "[DONE]" },
  { to: "/v1/messages", body: { ...common, messages }, end: "message_stop" },
  {
    to: "/v1beta/models/acme/ticking:streamGenerateContent?alt=sse",
    body: { contents },
    end: '"finishReason":"STOP"',
  },
  // The parts of the request that its answers repeat are kept, and counted, until their end.
  { to: "/v1/responses", body: responses, end: "response.completed", count: 20 },
];
/** In the short form: a call that is passed on unchanged, and the one that keeps the most. */
const cases = shortOrLong([all[0]!, all[3]!], all);

it.each(cases)("STREAM-02: streams of $to keep nothing of their requests", async (one) => {
  const { to, body, end, count = streams } = one;
  // Warm up: memory of code that loads once belongs to no stream.
  await close(await openAll(openedAtOnce, to, body));
  const before = await probe.read(gateway.child);
  const rests = await openAll(count, to, body);
  const small = async (): Promise<void> => {
    const during = await probe.read(gateway.child);
    const streamKb = ((during.usedMb - before.usedMb) * 1_000) / count;
    console.log(`${count} streams to ${to}: ${streamKb.toFixed(0)} kB each`);
    expect(streamKb).toBeLessThan(streamKbMax);
  };
  await vi.waitFor(small, { timeout: 5_000, interval: 200 });
  for (const text of await close(rests)) expect(text).toContain(end);
});

/** A waiting call takes the bytes of its body, and little more. */
const waiting = 20;
const besideBytesKbMax = 50;

// In the short form only a converted one.
it.each(shortOrLong(["/v1/messages"], ["/v1/chat/completions", "/v1/messages"]))(
  "calls that wait for whole answers of %s keep no more of their requests than the bytes",
  async (path) => {
    const body = JSON.stringify({ ...common, stream: false, messages });
    const ask = async (count: number) => {
      const begun = ticking.begun() + count;
      const answers = Array.from({ length: count }, () => post(path, body));
      await vi.waitFor(() => expect(ticking.begun()).toBe(begun), { timeout: 20_000 });
      return answers;
    };
    const end = async (answers: readonly Promise<Response>[]): Promise<void> => {
      ticking.end();
      for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
    };
    await end(await ask(waiting));
    const before = await probe.read(gateway.child);
    const answers = await ask(waiting);
    const small = async (): Promise<void> => {
      const during = await probe.read(gateway.child);
      const callKb = ((during.usedMb - before.usedMb) * 1_000) / waiting;
      console.log(`${waiting} calls to ${path}: ${callKb.toFixed(0)} kB each`);
      expect(callKb).toBeLessThan(Buffer.byteLength(body) / 1_000 + besideBytesKbMax);
    };
    await vi.waitFor(small, { timeout: 5_000, interval: 200 });
    await end(answers);
  },
);
