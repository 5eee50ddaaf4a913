/**
 * Shared by the hostile tests: one gateway in front of a recorder that speaks all four protocols, sockets that send any bytes,
 * and `unharmed`. That checks that the bytes cost nothing and reached no upstream, and that the next good call is answered.
 */
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect } from "vitest";
import { createKey } from "../../src/tenancy/index.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { eventually, patienceMs } from "../support/patience.ts";
import { startRecorder, type Answer, type Recorder } from "../support/recorder.ts";

/** How a call reaches one of the four text endpoints. */
export interface Entry {
  readonly name: "chat" | "responses" | "messages" | "generate_content";
  readonly path: string;
  /** A body that is answered with 200. */
  readonly good: Readonly<Record<string, unknown>>;
}

const user = [{ role: "user", content: "Hi" }];

export const entries: readonly Entry[] = [
  { name: "chat", path: "/v1/chat/completions", good: { model: "acme/talk", messages: user } },
  { name: "responses", path: "/v1/responses", good: { model: "acme/talk", input: "Hi" } },
  {
    name: "messages",
    path: "/v1/messages",
    good: { model: "acme/talk", max_tokens: 16, messages: user },
  },
  {
    name: "generate_content",
    path: "/v1beta/models/acme/talk:generateContent",
    good: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
  },
];

/** Whole answers of the four vendors, by request path. */
const answers: readonly [suffix: string, body: object][] = [
  [
    "/chat/completions",
    {
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "up",
      choices: [
        { index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" },
      ],
      usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
    },
  ],
  [
    "/responses",
    {
      id: "r",
      object: "response",
      created_at: 1,
      status: "completed",
      model: "up",
      output: [
        {
          type: "message",
          id: "m",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: "Hello", annotations: [] }],
        },
      ],
      usage: { input_tokens: 2, output_tokens: 1, total_tokens: 3 },
    },
  ],
  [
    "/messages",
    {
      id: "m",
      type: "message",
      role: "assistant",
      model: "up",
      content: [{ type: "text", text: "Hello" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 2, output_tokens: 1 },
    },
  ],
  [
    ":generateContent",
    {
      candidates: [
        { index: 0, content: { role: "model", parts: [{ text: "Hello" }] }, finishReason: "STOP" },
      ],
      usageMetadata: { promptTokenCount: 2, candidatesTokenCount: 1, totalTokenCount: 3 },
    },
  ],
];

/** The recorder's answer to a good call. */
export const answer: Answer = (request, response) => {
  const path = request.path.replace(":streamGenerateContent?alt=sse", ":generateContent");
  const body = answers.find(([suffix]) => path.endsWith(suffix))?.[1];
  if (!body) return void response.writeHead(500).end();
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
};

/** The protocols; only an upstream of that protocol serves `acme/on-<protocol>`. */
export const upstreams = ["chat", "responses", "messages", "generate_content"] as const;

const config = (url: string): string => `
providers:
${upstreams
  .map(
    (name) =>
      `  - { id: ${name}, dialect: openai-compatible, base_url: "${url}/${name}", api_key: vendor-secret-${name}, tier: official }`,
  )
  .join("\n")}
models:
  - id: acme/talk
    kind: text
    endpoints: [chat_completions, responses, messages, generate_content]
    context_length: 200000
    max_output_tokens: 32000
    offers:
${upstreams
  .map(
    (name) =>
      `      - { provider: ${name}, protocol: ${name}, upstream_model: up, price: { input: "1", output: "2" } }`,
  )
  .join("\n")}
${upstreams
  .map(
    (name) => `  - id: acme/on-${name}
    kind: text
    endpoints: [chat_completions, responses, messages, generate_content]
    context_length: 200000
    max_output_tokens: 32000
    offers:
      - { provider: ${name}, protocol: ${name}, upstream_model: up, price: { input: "1", output: "2" } }`,
  )
  .join("\n")}
  - id: acme/chat-only
    kind: text
    endpoints: [chat_completions]
    context_length: 200000
    max_output_tokens: 32000
    offers:
      - { provider: chat, protocol: chat, upstream_model: up, price: { input: "1", output: "2" } }
`;

/** The status and error of an answer, in any protocol's shape. */
export interface ErrorAnswer {
  readonly status: number;
  readonly code: string | undefined;
  readonly param: string | null;
}

export interface World {
  readonly gateway: GatewayUnderTest;
  readonly upstream: Recorder;
  /**
   * Runs work that must cost nothing and reach no upstream. Then a good call with another key must be answered; its protocol
   * changes each time.
   */
  unharmed<T>(work: () => Promise<T>): Promise<T>;
  /** Writes the parts one after another on one socket; resolves with everything received when it closes or falls silent. */
  raw(parts: readonly (string | Buffer)[], options?: RawOptions): Promise<string>;
}

interface RawOptions {
  /** How long to wait for the end; the patience of all tests if absent. */
  readonly waitMs?: number;
  /** Ends our side of the connection after the last part, and goes on reading. */
  readonly halfClose?: boolean;
  readonly pauseMs?: number;
  /** Stops when everything was written and this many answers have come. */
  readonly answers?: number;
  /** How long to wait for more after that; 50 ms if absent. */
  readonly afterMs?: number;
  /** The last part is written once this text has come. */
  readonly lastAfter?: string;
}

type GatewaySettings = Omit<Parameters<typeof startTestGateway>[0] & object, "config">;

/** A gateway for the tests of one file. `more` is added to its configuration. */
export function useWorld(settings: GatewaySettings = {}, more = ""): World {
  let gateway: GatewayUnderTest;
  let upstream: Recorder;
  let turn = 0;
  let good: Awaited<ReturnType<typeof createKey>>;
  beforeAll(async () => {
    upstream = await startRecorder(answer);
    gateway = await startTestGateway({ ...settings, config: config(upstream.url) + more });
    await gateway.credit("100");
    const { workspaceId } = gateway;
    good = await createKey(await gateway.internals(), {
      workspaceId,
      name: "good",
      createdBy: null,
    });
  });
  const state = () => stateOf(gateway, upstream, good.record.id);
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });
  const world: World = {
    get gateway() {
      return gateway;
    },
    get upstream() {
      return upstream;
    },
    raw: (parts, options = {}) => raw(gateway, parts, options),
    async unharmed(work) {
      // A key's allowance is released a moment after its last call.
      await expect.poll(state).toMatchObject({ holds: 0n });
      const before = await state();
      const result = await work();
      await expect.poll(state).toEqual(before);
      const next = entries[(turn += 1) % entries.length]!;
      const authorization = `Bearer ${good.key}`;
      const response = await eventually(async () => {
        const one = await gateway.post(next.path, next.good, { authorization });
        // On a slow machine, a gateway with short limits may refuse a good call too.
        return (settings.receive === undefined || one.status !== 408) && one;
      }, "a good call without a timeout");
      expect(`${response.status} ${await response.text()}`).toContain("200 {");
      return result;
    },
  };
  return world;
}

/** The state that a refused call must leave unchanged. Reservations of the good calls' key are left out. */
async function stateOf(
  gateway: GatewayUnderTest,
  upstream: Recorder,
  goodKey: string,
): Promise<object> {
  const [rows] = await gateway.database.query<{ entries: bigint; holds: bigint }>(
    `select (select count(*) from ledger_entries) as entries,
       (select count(*) from ledger_holds where key_id <> $1) +
       (select count(*) from ledger_allowances where amount_nano > 0 and key_id <> $1) as holds`,
    [goodKey],
  );
  return { ...rows, upstream: upstream.requests.length };
}

/** The status and the error code of an answer, read where the path's protocol puts it; checks the shape. */
export async function readAnswer(
  entry: Pick<Entry, "name">,
  response: Response,
): Promise<ErrorAnswer> {
  const text = await response.text();
  return { status: response.status, ...readError(entry.name, JSON.parse(text)) };
}

/** The code in an error body, after a check that the body has exactly the protocol's shape. */
export function readError(name: Entry["name"], body: unknown): Pick<ErrorAnswer, "code" | "param"> {
  const anyText = expect.any(String) as string;
  if (name === "messages") {
    expect(body).toEqual({
      type: "error",
      error: {
        type: anyText,
        message: anyText,
        details: expect.objectContaining({ error_code: anyText }) as object,
      },
      request_id: expect.stringMatching(/^req_/) as string,
    });
    const { details } = (body as { error: { details: { error_code: string; param?: string } } })
      .error;
    return { code: details.error_code, param: details.param ?? null };
  }
  if (name === "generate_content") {
    expect(body).toEqual({
      error: {
        code: expect.any(Number) as number,
        message: anyText,
        status: expect.stringMatching(/^[A-Z_]+$/) as string,
        details: expect.any(Array) as unknown[],
      },
    });
    const [info] = (
      body as { error: { details: { reason: string; metadata: { param?: string } }[] } }
    ).error.details;
    return { code: info?.reason.toLowerCase(), param: info?.metadata.param ?? null };
  }
  const { error } = body as { error: { code: string; param: string | null } };
  expect(Object.keys(error).sort()).toEqual(["code", "message", "param", "type"]);
  return { code: error.code, param: error.param };
}

function raw(
  gateway: GatewayUnderTest,
  parts: readonly (string | Buffer)[],
  options: RawOptions,
): Promise<string> {
  const { waitMs = patienceMs, halfClose = false, pauseMs = 0, afterMs = 50 } = options;
  const { answers: wanted = Infinity, lastAfter = "" } = options;
  return new Promise((resolve) => {
    const { port } = new URL(gateway.url);
    let text = "";
    const socket: Socket = connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true });
    const finish = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(text);
    };
    const timer = setTimeout(finish, waitMs);
    let written = false;
    const look = (): void => {
      if (written && countAnswers(text) >= wanted) setTimeout(finish, afterMs);
    };
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      look();
    });
    socket.on("end", finish).on("close", finish);
    socket.on("error", () => undefined);
    const send = async (): Promise<void> => {
      for (const [index, part] of parts.entries()) {
        if (index === parts.length - 1) await eventually(() => text.includes(lastAfter), lastAfter);
        if (socket.destroyed) return;
        if (!socket.write(part)) await new Promise((drained) => socket.once("drain", drained));
        if (pauseMs > 0) await sleep(pauseMs);
      }
      if (halfClose) socket.end();
      written = true;
      look();
    };
    send().catch(finish);
  });
}

const countAnswers = (text: string): number => text.split("HTTP/1.1 ").length - 1;

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** The statuses of all answers received over one connection. */
export const statuses = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

/** The body of the first answer received over one connection. */
export const bodyOf = (text: string): unknown =>
  JSON.parse(/\r\n\r\n([^]*?)(?:HTTP\/1\.1 |$)/.exec(text)![1]!) as unknown;
