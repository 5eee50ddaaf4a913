/** Shared by the attacks with bodies: a gateway of its own, requests of any size, sent as they are, and their answers. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "vitest";
import { tollgateHere } from "../support/command.ts";
import { shortOrLong } from "../support/long.ts";
import type { MemoryGroup } from "../support/memory-group.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { spawnGateway } from "../support/process.ts";
import { measure, stallMsMax, type Target } from "./support.ts";

export interface Victim extends Target {
  stop(): Promise<void>;
}

/** An upstream in its own process that reads bodies without parsing them: its cost must not be measured. */
const upstreamProgram = `
  const usage = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3, input_tokens: 2, output_tokens: 1 };
  const answers = {
    chat: { id: "c", object: "chat.completion", created: 1, model: "m", usage,
      choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }] },
    messages: { id: "m", type: "message", role: "assistant", model: "m", stop_reason: "end_turn", stop_sequence: null,
      content: [{ type: "text", text: "Hello" }], usage },
    responses: { id: "r", object: "response", created_at: 1, status: "completed", model: "m", usage,
      output: [{ type: "message", id: "o", status: "completed", role: "assistant",
        content: [{ type: "output_text", text: "Hello", annotations: [] }] }] },
    embeddings: { object: "list", model: "m", usage, data: [{ object: "embedding", index: 0, embedding: [0.5] }] },
    models: { modelVersion: "m", usageMetadata: { promptTokenCount: 2, candidatesTokenCount: 1, totalTokenCount: 3 },
      candidates: [{ index: 0, finishReason: "STOP", content: { role: "model", parts: [{ text: "Hello" }] } }] },
  };
  const frameOf = (content, obfuscation) => "data: " + JSON.stringify({ id: "c", object: "chat.completion.chunk",
    created: 1, model: "m", obfuscation, choices: [{ index: 0, delta: { content }, finish_reason: null }] }) + "\\n\\n";
  const endless = frameOf("x", "x".repeat(10_000));
  /** One character of it makes two bytes of each that is kept as text. */
  const talking = frameOf("a ".repeat(5_000) + "\\u6c34");
  /** So many frames of a stream, as fast as they are taken, and its end, where there is one. */
  const streams = (response, frame, count, end) => {
    if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
    let frames = 0;
    const more = () => {
      while (frames < count && !response.destroyed) {
        frames += 1;
        if (!response.write(frame)) return void response.once("drain", more);
      }
      if (end !== undefined) response.end(end);
    };
    more();
  };
  /** An event of 30 MB whose end never comes. */
  const unfinished = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(frameOf("", "").slice(0, -12));
    streams(response, "x".repeat(10_000), 3_000);
  };
  const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E";
  const pictureMade = ',"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}';
  /** A whole answer with a picture of 25 MB, or an event of 50 MB with one whose end never comes. */
  const largePicture = (response, isStream) => {
    response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
    response.write((isStream ? 'data: {"type":"image_generation.completed","b64_json":"' : '{"data":[{"b64_json":"') + picture);
    streams(response, "A".repeat(10_000), isStream ? 5_000 : 2_500, isStream ? undefined : '"}]' + pictureMade + "}");
  };
  const server = require("node:http").createServer((request, response) => {
    const kind = Object.keys(answers).find((name) => request.url.includes(name));
    request.resume();
    request.on("end", () => {
      if (request.url.includes("/images/")) return largePicture(response, request.url.includes("/unfinished/"));
      if (request.url.includes("/endless/")) return streams(response, endless, 10_000);
      if (request.url.includes("/talking/")) return streams(response, talking, 450);
      if (request.url.includes("/unfinished/")) return unfinished(response);
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(answers[kind]));
    });
  });
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;

async function startUpstream(): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, ["-e", upstreamProgram], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [port] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { url: `http://127.0.0.1:${port}`, child };
}

const textModel = (name: string, provider: string, protocol: string): string => `
  - id: sandbox/${name}
    kind: text
    endpoints: [chat_completions, responses, messages, generate_content]
    context_length: 100000000
    input_modalities: [text, image]
    max_output_tokens: 1000
    offers:
      - { provider: ${provider}, protocol: ${protocol}, upstream_model: m, price: { input: "0.001", output: "0.001" } }`;

const imageModel = (name: string, provider: string): string => `
  - id: sandbox/${name}
    kind: image
    family: image-a
    offers:
      - { provider: ${provider}, upstream_model: m, price: { input: "0.001", image_input: "0.001", output: "0.001", image_output: "0.001" } }`;

const config = (upstream: string): string => `
providers:
  - { id: openai, dialect: openai, base_url: "${upstream}/v1", api_key: k, tier: official }
  - { id: anthropic, dialect: anthropic, base_url: "${upstream}", api_key: k, tier: official }
  - { id: endless, dialect: openai-compatible, base_url: "${upstream}/endless/v1", api_key: k, tier: community }
  - { id: talking, dialect: openai-compatible, base_url: "${upstream}/talking/v1", api_key: k, tier: community }
  - { id: unfinished, dialect: openai-compatible, base_url: "${upstream}/unfinished/v1", api_key: k, tier: community }
  - { id: google, dialect: google, base_url: "${upstream}", api_key: k, tier: official }
models:${textModel("chat", "openai", "chat")}${textModel("endless", "endless", "chat")}${textModel("talking", "talking", "chat")}${textModel("unfinished", "unfinished", "chat")}${textModel("responses", "openai", "responses")}${textModel("messages", "anthropic", "messages")}${textModel("generate-content", "google", "generate_content")}${imageModel("large-picture", "endless")}${imageModel("unfinished-picture", "unfinished")}
  - id: sandbox/embedding
    kind: embedding
    context_length: 1000000
    offers: [{ provider: openai, upstream_model: m, price: { input: "0.001" } }]
`;

/**
 * A gateway process in front of an upstream that answers at once, with the first start's key and credit. With a memory limit, the
 * database runs in the same group.
 */
export async function startVictim(group?: MemoryGroup): Promise<Victim> {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-attack-"));
  const upstream = await startUpstream();
  const file = join(directory, "tollgate.yaml");
  writeFileSync(file, config(upstream.url));
  const environment = {
    TOLLGATE_DATA_DIR: directory,
    TOLLGATE_CONFIG: file,
    ...(group === undefined && { DATABASE_URL: await (await sharedPostgres()).createMigrated() }),
    TOLLGATE_LOG_LEVEL: "error",
    TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on",
  };
  const gateway = await spawnGateway(environment, group && { group }).catch((error: unknown) => {
    upstream.child.kill("SIGKILL");
    throw error;
  });
  const credited = await tollgateHere(["credits", "add", "1000"], environment);
  if (credited.code !== 0) throw new Error(credited.stderr);
  return {
    url: gateway.url,
    pid: gateway.child.pid!,
    key: /gw_live_\w+/.exec(gateway.banner)![0],
    async stop() {
      upstream.child.kill("SIGKILL");
      // The database of a group must end with the group.
      await (group === undefined ? gateway.kill() : gateway.stop());
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export interface Sent {
  readonly path: string;
  readonly body: Buffer;
  readonly key?: string;
  /** True: chunked; otherwise with a Content-Length. */
  readonly chunked?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

const pieceBytes = 1 << 20;

/**
 * Sends a POST piece by piece, as fast as the gateway reads, on its own connection. Resolves with the status of the answer, or 0
 * if the connection ends without one because the body was not sent whole.
 */
export function send(url: string, sent: Sent) {
  const { path, body } = sent;
  return new Promise<number>((resolve) => {
    const outgoing = request(`${url}${path}`, {
      method: "POST",
      agent: false,
      headers: headersOf(sent),
    });
    outgoing.once("response", (response) => {
      resolve(response.statusCode ?? 0);
      response.resume();
      // The rest of the body is no longer needed.
      response.once("end", () => outgoing.destroy());
    });
    outgoing.once("error", () => resolve(0));
    let at = 0;
    const more = (): void => {
      while (at < body.length && !outgoing.destroyed) {
        const piece = body.subarray(at, at + pieceBytes);
        at += piece.length;
        if (!outgoing.write(piece)) return void outgoing.once("drain", more);
      }
      if (!outgoing.destroyed) outgoing.end();
    };
    more();
  });
}

/** Sends the head of a POST and the first `bytes` of its body, then nothing. Resolves with the status of the answer. */
export function sendStart(url: string, sent: Sent, bytes: number) {
  return new Promise<number>((resolve, reject) => {
    const outgoing = request(`${url}${sent.path}`, {
      method: "POST",
      agent: false,
      timeout: 30_000,
      headers: headersOf(sent),
    });
    outgoing.once("response", (response) => {
      resolve(response.statusCode ?? 0);
      outgoing.destroy();
    });
    outgoing.once("error", reject);
    outgoing.once("timeout", () => outgoing.destroy(new Error("no answer within 30 s")));
    outgoing.flushHeaders();
    if (bytes > 0) outgoing.write(sent.body.subarray(0, bytes));
  });
}

const headersOf = ({ body, key, chunked = false, headers }: Sent): Record<string, string> => ({
  "content-type": "application/json",
  ...(key !== undefined && { authorization: `Bearer ${key}` }),
  ...(chunked ? { "transfer-encoding": "chunked" } : { "content-length": String(body.length) }),
  ...headers,
});

/** The number of answers per status, such as `{ 401: 8 }`. */
function countByStatus(statuses: readonly number[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** A JSON list of `count` items, as text. */
export const listOf = (count: number, item: (index: number) => string): string =>
  `[${Array.from({ length: count }, (_, index) => item(index)).join(",")}]`;

/** The same with equal items; for millions of them it is seconds faster. */
export const listOfSame = (count: number, item: string): string =>
  `[${`${item},`.repeat(count - 1)}${item}]`;

/** Processor time of one piece of work: several time slices of a scheduler. The short form's limits are twenty times as wide. */
const workMs = shortOrLong(10, 30);
const workEveryMs = shortOrLong(500, 200);

/** Works for `workMs`, over and over, and records how long each piece took. */
const busyProgram = `
  const ratios = [];
  const spent = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
  setInterval(() => {
    const [startedMs, cpuMs] = [performance.now(), spent()];
    while (spent() - cpuMs < ${workMs});
    ratios.push((performance.now() - startedMs) / (spent() - cpuMs));
  }, ${workEveryMs});
  process.stdin.on("end", () => {
    process.stdout.write(String(Math.max(1, ...ratios)));
    process.exit();
  }).resume();`;

/**
 * Runs `work` and measures by how much other processes slow this machine meanwhile: the worst ratio of elapsed time to processor
 * time of a program. It is 1 on an idle machine. Work that blocks the gateway for 100 ms then blocks it longer by that factor.
 */
async function withSlowness<Result>(
  work: () => Promise<Result>,
): Promise<{ result: Result; slowness: number }> {
  const child = spawn(process.execPath, ["-e", busyProgram], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const result = await work().finally(() => child.stdin.end());
  const [text] = (await once(child.stdout, "data")) as [Buffer];
  return { result, slowness: Math.max(1, Number(text.toString())) };
}

/** Attacks while another caller calls. All its calls must succeed, none may wait 250 ms longer, and memory must stay below 1.5 GB. */
export async function expectUnharmed(
  name: string,
  victim: Victim,
  work: () => Promise<readonly number[]>,
): Promise<Record<number, number>> {
  let statuses: readonly number[] = [];
  const { result: figures, slowness } = await withSlowness(() =>
    measure(name, victim, async () => (statuses = await work())),
  );
  const told = JSON.stringify(countByStatus(statuses));
  console.log(`attack: ${name}: answers ${told}, machine slowed by ${slowness.toFixed(1)}`);
  expect(figures).toMatchObject({ failed: 0 });
  expect(figures.stallMs).toBeLessThan(stallMsMax * slowness);
  expect(figures.memoryMax).toBeLessThan(1.5e9);
  return countByStatus(statuses);
}
