/**
 * The gateway for conversion tests: one recording upstream with one model for each upstream protocol, each callable through all
 * four entry points. Also the tables of expected conversions.
 */
import { afterAll, beforeAll, expect } from "vitest";
import { createSseParser, type SseEvent } from "../../src/base/sse.ts";
import {
  chat,
  generateContent,
  messages,
  parsed,
  responses,
  upstreamModel,
  type Protocol,
} from "../rows/protocols.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { json, sse, startRecorder, type Answer, type Recorder } from "../support/recorder.ts";

export type Body = Record<string, unknown>;
export type Name = Protocol["name"];

export const byName: Readonly<Record<Name, Protocol>> = {
  chat,
  responses,
  messages,
  generate_content: generateContent,
};
export const names = Object.keys(byName) as Name[];
/** Every pair of different protocols, caller first. */
export const convertedPairs = names.flatMap((from) =>
  names.filter((to) => to !== from).map((to) => [from, to] as const),
);

/** The model whose only upstream speaks this protocol. */
export const modelOf = (to: Name): string => `acme/${to.replace("_", "-")}`;
/** The models' output token limit. It fills in a missing `max_tokens` (CONV-403). */
export const maxOutputTokens = 32_000;

const modelRow = (name: Name): string => `
  - id: ${modelOf(name)}
    kind: text
    endpoints: [chat_completions, responses, messages, generate_content]
    context_length: 200000
    max_output_tokens: ${maxOutputTokens}
    offers:
      - { provider: up, protocol: ${name}, upstream_model: ${upstreamModel}, price: { input: "1", cache_read: "0.1", cache_write: "1.25", output: "10" } }`;

/** Answers in the protocol of the path, whole or streamed as requested. */
const answering: Answer = (request, response) => {
  const protocol = names
    .map((name) => byName[name])
    .find(({ name }) => speaks(request.path, name))!;
  const streamed = request.body["stream"] === true || request.path.includes(":stream");
  return (streamed ? sse(protocol.frames.join("")) : json(protocol.whole()))(request, response);
};

function speaks(path: string, name: Name): boolean {
  if (name === "chat") return path.endsWith("/chat/completions");
  return name === "generate_content" ? path.includes("enerateContent") : path.endsWith(`/${name}`);
}

export interface Outcome {
  readonly status: number;
  readonly headers: Headers;
  /** The body that the upstream got. Undefined if it was not called. */
  readonly up: Body | undefined;
  /** The same body as raw text. */
  readonly upText: string;
  readonly answer: Body;
  /** `gw.droppedParams`; empty if absent. */
  readonly reported: readonly string[];
}

export interface Conversions {
  readonly gateway: () => GatewayUnderTest;
  readonly upstream: () => Recorder;
  /** POSTs a non-streaming call of one protocol to the model of another. `extra` is merged into the minimal body. */
  send(from: Name, to: Name, extra?: Body, answer?: Answer): Promise<Outcome>;
  /** The same call as a stream. Returns its events, and the dropped parameters of the header. */
  stream(
    from: Name,
    to: Name,
    extra?: Body,
    answer?: Answer,
  ): Promise<{
    readonly events: SseEvent[];
    readonly header: string | null;
    readonly id: string | null;
    readonly text: string;
  }>;
}

/** Starts the gateway before the tests of a file, and closes it after them. */
export function conversions(): Conversions {
  let gateway: GatewayUnderTest;
  let upstream: Recorder;
  beforeAll(async () => {
    upstream = await startRecorder(answering);
    gateway = await startTestGateway({
      config: `
providers:
  - { id: up, dialect: openai-compatible, base_url: "${upstream.url}/v1", api_key: secret }
models:${names.map(modelRow).join("")}
`,
    });
    await gateway.credit("1000");
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });
  const post = (from: Name, to: Name, stream: boolean, extra: Body): Promise<Response> => {
    const caller = byName[from];
    const model = modelOf(to);
    return gateway.post(caller.path(model, stream), { ...caller.body(model, stream), ...extra });
  };
  const prepare = (answer: Answer): void => {
    upstream.requests.length = 0;
    upstream.answer(answer);
  };
  return {
    gateway: () => gateway,
    upstream: () => upstream,
    async send(from, to, extra = {}, answer = answering) {
      prepare(answer);
      const reply = await post(from, to, false, extra);
      const body = (await reply.json()) as Body;
      const request = upstream.requests[0];
      return {
        status: reply.status,
        headers: reply.headers,
        up: request?.body,
        upText: request?.text ?? "",
        answer: body,
        reported: ((body["gw"] as Body | undefined)?.["droppedParams"] ?? []) as string[],
      };
    },
    async stream(from, to, extra = {}, answer = answering) {
      prepare(answer);
      const reply = await post(from, to, true, extra);
      const bytes = new Uint8Array(await reply.arrayBuffer());
      const parser = createSseParser();
      const events = [...parser.push(bytes), ...parser.end()];
      const header = reply.headers.get("x-gw-dropped-params");
      const id = reply.headers.get("x-request-id");
      return { events, header, id, text: new TextDecoder().decode(bytes) };
    },
  };
}

/** The parsed data of a stream's events, without `[DONE]`. */
export const dataOf = (events: readonly SseEvent[]): Body[] =>
  events.filter(({ data }) => data !== "[DONE]").map(parsed);

/** One call to one upstream protocol, with expectations. */
export interface Case {
  /** Begins with the ids of the tested rows. */
  readonly title: string;
  readonly from: Name;
  readonly to: Name;
  /** Merged into the minimal body of the caller's protocol. */
  readonly body: Body;
  /** Expected part of the upstream's body. */
  readonly up?: Body;
  /** Dotted paths that the upstream's body must not have. */
  readonly absent?: readonly string[];
  /** Texts that must not occur in the upstream's body. */
  readonly nowhere?: readonly string[];
  /** The exact list of parameters reported to the caller. None if omitted. */
  readonly reported?: readonly string[];
}

/** A table for `it.each`: the title with the protocol pair, then the case. */
export const titled = (cases: readonly Case[]): (readonly [string, Case])[] =>
  cases.map((one) => [`${one.title} (${one.from} to ${one.to})`, one]);

/** Makes one call and checks both sides. The call must succeed. */
export async function showCase(world: Conversions, one: Case): Promise<void> {
  const { from, to } = one;
  const { status, up, upText, answer, reported } = await world.send(from, to, one.body);
  expect([status, status === 200 ? "" : answer]).toEqual([200, ""]);
  expect(up).toMatchObject(one.up ?? {});
  for (const path of one.absent ?? []) expect(up).not.toHaveProperty(path);
  for (const text of one.nowhere ?? []) expect(upText).not.toContain(text);
  expect(reported).toEqual(one.reported ?? []);
  expect(byName[from].textOf(answer)).toBe(byName[to].textOf(byName[to].whole()));
}

const oneTool = {
  name: "look",
  description: "Looks up a place",
  parameters: { type: "object", properties: { where: { type: "string" } }, required: ["where"] },
} as const;

const { name, description, parameters } = oneTool;
/** The same tool in each protocol. */
export const toolsOf: Readonly<Record<Name, Body>> = {
  chat: { tools: [{ type: "function", function: oneTool }] },
  responses: { tools: [{ type: "function", ...oneTool }] },
  messages: { tools: [{ name, description, input_schema: parameters }] },
  generate_content: {
    tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema: parameters }] }],
  },
};

/** The PNG signature in base64, without a picture. */
export const pictureData = "iVBORw0KGgo=";
export const pictureDataUrl = `data:image/png;base64,${pictureData}`;
export const pictureUrl = "https://pictures.example/cat.png";
export const user = (content: unknown): Body => ({ messages: [{ role: "user", content }] });
