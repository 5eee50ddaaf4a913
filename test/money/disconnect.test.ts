/**
 * Clients that disconnect in every phase of a call (docs/decisions.md "Client disconnect"): the gateway closes the upstream at once,
 * charges the used amount once, and leaves no hold.
 */
import { connect, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { countTokens } from "gpt-tokenizer";
import { afterEach, expect, it } from "vitest";
import { estimateInputTokens } from "../../src/catalog/index.ts";
import { codecs } from "../../src/protocols/index.ts";
import { json, type Recorded } from "../support/recorder.ts";
import {
  answering,
  chatConfig,
  completion,
  delta,
  describeGateways,
  doneFrame,
  eventually,
  finishFrame,
  idOf,
  sleep,
  talk,
  usageFrame,
  usageOf,
  type Bench,
  type LogRow,
} from "./support.ts";

const config = (url: string) =>
  `${chatConfig(url, 'price: { input: "3", output: "15" }')}
  - id: acme/claude
    kind: text
    context_length: 200000
    max_output_tokens: 32000
    offers: [{ provider: anthropic, protocol: messages, upstream_model: m, price: { input: "3", cache_read: "0.3", output: "15" } }]
  - id: acme/drained
    kind: text
    context_length: 200000
    max_output_tokens: 32000
    offers: [{ provider: drained, protocol: chat, upstream_model: d, price: { input: "3", output: "15" } }]
`.replace(
    "models:",
    `  - { id: anthropic, dialect: anthropic, base_url: ${url}/v1, api_key: none }
  - { id: drained, dialect: openai-compatible, base_url: ${url}/v1, api_key: none, on_disconnect: drain }
models:`,
  );

const inputEstimate = (body: object): number => {
  const facts = codecs.chat.direct.facts(body as never);
  return estimateInputTokens(facts.inputCharacters, facts.inputMedia);
};
const nano = (input: number, output: number): bigint =>
  BigInt(input) * 3_000n + BigInt(output) * 15_000n;

const usage = usageOf(1_000, 400);

/** Starts a call that its client can abort. Resolves when the upstream has it. */
async function start(bench: Bench, path: string, body: object) {
  const controller = new AbortController();
  const before = await bench.rowIds();
  const requestsBefore = bench.up.requests.length;
  const answer = fetch(bench.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${bench.key}` },
    body: JSON.stringify(body),
    signal: controller.signal,
  });
  answer.catch(() => undefined);
  const upstream = await eventually(
    () => bench.up.requests[requestsBefore],
    "the upstream's request",
  );
  return {
    answer,
    upstream,
    leave: () => controller.abort(),
    row: () => bench.newestRow(before),
  };
}

/** Reads a stream until it contains the text. */
async function readUntil(answer: Promise<Response>, text: string): Promise<void> {
  const reader = (await answer).body!.getReader();
  const decoder = new TextDecoder();
  for (let seen = ""; !seen.includes(text);) {
    const { value, done } = await reader.read();
    expect(done).toBe(false);
    seen += decoder.decode(value, { stream: true });
  }
}

/** Expects the upstream's connection to close long before the deadlines of two minutes. */
async function expectAborted(upstream: Recorded): Promise<void> {
  await eventually(() => (upstream.aborted ? true : undefined), "the upstream closed");
}

async function expectCharged(bench: Bench, row: LogRow, expected: Partial<LogRow>): Promise<void> {
  expect(row).toMatchObject({ status: "client_closed", ...expected });
  expect(await bench.entry(row.id)).toMatchObject({ kind: "charge", amount_nano: row.cost_nano });
}

describeGateways("clients that leave", { config }, (bench) => {
  afterEach(() => bench().expectClean());

  it.each([{ stream: false }, { stream: true }])(
    "T62: pay nothing before the upstream's head ($stream), and the upstream request is aborted at once",
    async ({ stream }) => {
      bench().up.answer(() => undefined);
      const call = await start(bench(), "/v1/chat/completions", talk({ stream }));
      call.leave();
      await expectAborted(call.upstream);
      const row = await call.row();
      expect(row).toMatchObject({ status: "client_closed", cost_nano: 0n, usage_source: null });
      expect(row.attempts.map((attempt) => attempt.outcome)).toEqual(["aborted"]);
      expect(await bench().entry(row.id)).toMatchObject({ kind: "void", amount_nano: 0n });
    },
  );

  it("T62: pay nothing while the reservation waits for the database, and no upstream is called", async () => {
    const { database } = bench();
    const before = await bench().rowIds();
    const requestsBefore = bench().up.requests.length;
    await database.transaction(async (tx) => {
      await tx.query("select 1 from ledger_accounts for update");
      const socket = await rawCall(bench(), talk());
      await sleep(100);
      socket.destroy();
      await sleep(50);
    });
    expect(await bench().newestRow(before)).toMatchObject({
      status: "client_closed",
      cost_nano: 0n,
    });
    expect(bench().up.requests).toHaveLength(requestsBefore);
  });

  it("T62: pay nothing after the head and before any frame", async () => {
    bench().up.answer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    });
    const call = await start(bench(), "/v1/chat/completions", talk({ stream: true }));
    await sleep(30);
    call.leave();
    await expectAborted(call.upstream);
    expect(await call.row()).toMatchObject({ status: "client_closed", cost_nano: 0n });
  });

  it.each([
    ["reports usage at the end", ""],
    ["reports zeros before the end", usageFrame(usageOf(0, 0))],
  ])(
    "BILL-21 T62: pay for the estimated input and the received output of a vendor that %s",
    async (_name, told) => {
      bench().up.answer((_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(told + delta("The quick brown fox") + delta(" jumps over the lazy dog"));
      });
      const body = talk({ stream: true });
      const call = await start(bench(), "/v1/chat/completions", body);
      await readUntil(call.answer, "lazy dog");
      call.leave();
      await expectAborted(call.upstream);
      const input = inputEstimate(body);
      const output = countTokens("The quick brown fox jumps over the lazy dog");
      expect(output).toBeGreaterThan(5);
      await expectCharged(bench(), await call.row(), {
        usage_source: "estimated",
        cost_nano: nano(input, output),
      });
    },
  );

  it("BILL-21 T62: pay for the reported input and the received output of a vendor that reported its input first", async () => {
    const event = (type: string, fields: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
    const message = {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 700, cache_read_input_tokens: 5_000, output_tokens: 1 },
    };
    const block = { index: 0, content_block: { type: "text", text: "" } };
    const text = { index: 0, delta: { type: "text_delta", text: "The quick brown fox" } };
    bench().up.answer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(event("message_start", { message }) + event("content_block_start", block));
      response.write(event("content_block_delta", text));
    });
    const call = await start(bench(), "/v1/messages", {
      model: "acme/claude",
      max_tokens: 100,
      stream: true,
      messages: [{ role: "user", content: "Hello" }],
    });
    await readUntil(call.answer, "brown fox");
    call.leave();
    await expectAborted(call.upstream);
    const output = countTokens("The quick brown fox");
    await expectCharged(bench(), await call.row(), {
      usage_source: "estimated",
      cost_nano: nano(700, output) + 5_000n * 300n,
    });
  });

  it("BILL-21 T62: pay for a call that was on its way, although their protocol sends calls only when they are complete", async () => {
    const code = "the quick brown fox jumps over the lazy dog ".repeat(20);
    const piece = (call: object) =>
      `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] } }] })}\n\n`;
    const { promise: isOut, resolve } = Promise.withResolvers<void>();
    bench().up.answer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(piece({ id: "call_1", type: "function", function: { name: "run" } }));
      response.write(piece({ function: { arguments: `{"code":"${code}` } }), () => resolve());
    });
    const call = await start(bench(), "/v1beta/models/acme/talk:streamGenerateContent?alt=sse", {
      contents: [{ role: "user", parts: [{ text: "Run it" }] }],
      tools: [{ functionDeclarations: [{ name: "run" }] }],
    });
    await isOut;
    // The gateway runs in this process, and reads it in the next turn.
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    call.leave();
    await expectAborted(call.upstream);
    const row = await call.row();
    await expectCharged(bench(), row, { usage_source: "estimated" });
    expect(row.cost_nano).toBeGreaterThan(nano(0, countTokens(code)));
  });

  it("T62: pay for the reported usage if they leave during the last frames", async () => {
    bench().up.answer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(delta("The end") + finishFrame + usageFrame(usage));
    });
    const call = await start(bench(), "/v1/chat/completions", talk({ stream: true }));
    await readUntil(call.answer, "The end");
    call.leave();
    await expectAborted(call.upstream);
    await expectCharged(bench(), await call.row(), {
      usage_source: "upstream",
      cost_nano: nano(1_000, 400),
    });
  });

  it("T62: pay for the estimated input and the received text of a whole answer that was cut", async () => {
    const text = JSON.stringify(completion(usage, "The quick brown fox jumps over the lazy dog"));
    bench().up.answer((_request, response) => {
      response.writeHead(200, {
        "content-type": "application/json",
        "content-length": text.length,
      });
      response.write(text.slice(0, text.indexOf(" jumps")));
    });
    const body = talk();
    const call = await start(bench(), "/v1/chat/completions", body);
    await sleep(50);
    call.leave();
    await expectAborted(call.upstream);
    await expectCharged(bench(), await call.row(), {
      usage_source: "estimated",
      cost_nano: nano(inputEstimate(body), countTokens("The quick brown fox")),
    });
  });

  it.each([{ stream: false }, { stream: true }])(
    "T62: pay for the real usage of a provider that is drained because it bills on (stream: $stream)",
    async ({ stream }) => {
      let end = (): void => undefined;
      bench().up.answer((request, response) => {
        if (stream) {
          response
            .writeHead(200, { "content-type": "text/event-stream" })
            .write(delta("The quick"));
          end = () => response.end(delta(" fox") + finishFrame + usageFrame(usage) + doneFrame);
        } else end = () => void json(completion(usage))(request, response);
      });
      const body = talk({ model: "acme/drained", stream });
      const call = await start(bench(), "/v1/chat/completions", body);
      if (stream) await readUntil(call.answer, "The quick");
      call.leave();
      await sleep(100);
      expect(call.upstream.aborted).toBe(false);
      expect(await bench().holds()).toHaveLength(1);
      end();
      await expectCharged(bench(), await call.row(), {
        usage_source: "upstream",
        cost_nano: nano(1_000, 400),
      });
      expect(call.upstream.aborted).toBe(false);
    },
  );

  it("T62: pay for the real usage of a drained provider even if they stopped reading before they left", async () => {
    const piece = "x".repeat(64 * 1024);
    let paused = false;
    bench().up.answer(async (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (let index = 0; index < 400; index += 1) {
        if (response.write(delta(piece))) continue;
        paused = true;
        await new Promise((resume) => response.once("drain", resume));
      }
      response.end(finishFrame + usageFrame(usage) + doneFrame);
    });
    const before = await bench().rowIds();
    const socket = await rawCall(bench(), talk({ model: "acme/drained", stream: true }));
    await eventually(() => (paused ? true : undefined), "back-pressure up to the upstream");
    await sleep(100);
    socket.destroy();
    await expectCharged(bench(), await bench().newestRow(before), {
      usage_source: "upstream",
      cost_nano: nano(1_000, 400),
    });
  });

  it("T62: get one ledger entry for each call, which agrees with the log, whenever they leave", async () => {
    bench().up.answer(async (request, response) => {
      await sleep(Math.random() * 40);
      if (request.body["stream"] !== true) return answering(usage)(request, response);
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const piece of ["One", " two", " three"]) {
        response.write(delta(piece));
        await sleep(Math.random() * 10);
      }
      response.write(finishFrame);
      await sleep(Math.random() * 10);
      response.end(usageFrame(usage) + doneFrame);
    });
    // The duration of a call on this machine, so that some clients leave before its end and some after.
    const started = performance.now();
    await (await bench().post("/v1/chat/completions", talk({ stream: true }))).text();
    const usualMs = performance.now() - started;
    const before = await bench().rowIds();
    const count = 150;
    const whole: string[] = [];
    await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const signal = AbortSignal.timeout(Math.round(20 + Math.random() * 20 * usualMs));
        const body = talk({ stream: index % 3 > 0 });
        try {
          const response = await fetch(`${bench().url}/v1/chat/completions`, {
            method: "POST",
            headers: { "content-type": "application/json", authorization: `Bearer ${bench().key}` },
            body: JSON.stringify(body),
            signal,
          });
          const text = await response.text();
          if (text.endsWith(index % 3 > 0 ? doneFrame : "}")) whole.push(idOf(response));
        } catch {
          // The client left.
        }
      }),
    );
    await bench().expectClean();
    const rows = await eventually(async () => {
      const all = await bench().database.query<LogRow>(
        "select id, status, cost_nano from request_log",
      );
      const logged = new Set(all.map((row) => row.id));
      const charges = await bench().charges();
      const isWritten = charges.every(({ reference }) => logged.has(reference));
      return isWritten ? all.filter((row) => !before.has(row.id)) : undefined;
    }, "a row of the log for each charge");
    expect(rows.length).toBeGreaterThan(0);
    const entries = await Promise.all(rows.map((row) => bench().entry(row.id)));
    for (const [index, row] of rows.entries()) {
      const expected = { amount_nano: row.cost_nano, kind: row.cost_nano > 0n ? "charge" : "void" };
      // A call that ended before its reservation has no entry.
      const entry = row.cost_nano > 0n ? entries[index] : (entries[index] ?? expected);
      expect({ id: row.id, ...entry }).toMatchObject({ id: row.id, ...expected });
    }
    const charged = new Set((await bench().charges()).map((row) => row.reference));
    expect(whole.filter((id) => !charged.has(id))).toEqual([]);
  });
});

/** A call over a raw socket that does not read its answer. */
async function rawCall(bench: Bench, body: object): Promise<Socket> {
  const { port, hostname } = new URL(bench.url);
  const socket = connect(Number(port), hostname);
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.pause();
  const text = JSON.stringify(body);
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${bench.key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
  return socket;
}
