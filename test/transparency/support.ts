/**
 * Shared by the transparency tests: one recorder as every protocol's upstream, a gateway in front of it, and the comparison.
 * The upstream must receive the caller's body byte for byte, except for the expected changes.
 */
import { afterAll, beforeAll } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { startRecorder, type Answer, type Recorded, type Recorder } from "../support/recorder.ts";

export type Protocol = "chat" | "responses" | "messages" | "generate_content";
export type Body = Record<string, unknown>;

/** The upstream's name of every model here. Callers use `acme/` and the protocol's name with dashes. */
export const upstreamModel = "upstream-model-2026-10-01";
export const upstreamKey = "upstream-credential";
export const modelOf = (protocol: Protocol): string => `acme/${protocol.replace("_", "-")}`;

const config = (url: string): string => `
providers:
  - { id: openai, dialect: openai, base_url: "${url}/v1", api_key: ${upstreamKey} }
  - { id: anthropic, dialect: anthropic, base_url: "${url}/v1", api_key: ${upstreamKey} }
  - { id: google, dialect: google, base_url: "${url}/v1beta", api_key: ${upstreamKey} }
models:
${(
  [
    ["chat", "openai", "chat_completions"],
    ["responses", "openai", "responses"],
    ["messages", "anthropic", "messages"],
    ["generate_content", "google", "generate_content"],
  ] as const
)
  .map(
    ([protocol, provider, endpoint]) => `
  - id: ${modelOf(protocol)}
    kind: text
    endpoints: [${endpoint}]
    context_length: 1000000
    max_output_tokens: 64000
    offers:
      - provider: ${provider}
        protocol: ${protocol}
        upstream_model: ${upstreamModel}
        price: { input: "1.00", cache_read: "0.10", cache_write: "1.25", output: "4.00" }`,
  )
  .join("")}
`;

export interface Bench {
  readonly gateway: GatewayUnderTest;
  /** The upstream. By default it answers shortly in the protocol of the request. */
  readonly upstream: Recorder;
  /** The requests that the upstream received from the calls in `work`. */
  readonly received: (work: () => Promise<unknown>) => Promise<readonly Recorded[]>;
}

/** A recorder and a gateway for the tests of one file. */
export function useBench(): Bench {
  let upstream: Recorder;
  let gateway: GatewayUnderTest;
  beforeAll(async () => {
    upstream = await startRecorder(shortAnswer);
    gateway = await startTestGateway({ config: config(upstream.url) });
    await gateway.credit("1000");
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });
  return {
    get gateway() {
      return gateway;
    },
    get upstream() {
      return upstream;
    },
    async received(work) {
      const before = upstream.requests.length;
      await work();
      return upstream.requests.slice(before);
    },
  };
}

const frame = (event: string, data: object): string =>
  `event: ${event}\ndata: ${JSON.stringify({ type: event, ...data })}\n\n`;
const bare = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

const response = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: upstreamModel,
  status: "completed",
  output: [
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Yes.", annotations: [] }],
    },
  ],
  usage: { input_tokens: 10, output_tokens: 2, total_tokens: 12 },
};
const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: upstreamModel,
  content: [{ type: "text", text: "Yes." }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 2 },
};
const candidates = {
  candidates: [
    { index: 0, content: { role: "model", parts: [{ text: "Yes." }] }, finishReason: "STOP" },
  ],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 },
  modelVersion: upstreamModel,
};
const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: upstreamModel,
  choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
};
const { message: _said, ...choice } = { ...completion.choices[0]!, delta: { content: "Yes." } };
const chunk = { ...completion, object: "chat.completion.chunk", choices: [choice] };

const short: Readonly<Record<Protocol, { whole: object; stream: string }>> = {
  chat: { whole: completion, stream: `${bare(chunk)}data: [DONE]\n\n` },
  responses: {
    whole: response,
    stream:
      frame("response.created", { sequence_number: 0, response: { ...response, output: [] } }) +
      frame("response.completed", { sequence_number: 1, response }),
  },
  messages: {
    whole: message,
    stream:
      frame("message_start", { message: { ...message, content: [], stop_reason: null } }) +
      frame("content_block_start", { index: 0, content_block: { type: "text", text: "" } }) +
      frame("content_block_delta", { index: 0, delta: { type: "text_delta", text: "Yes." } }) +
      frame("content_block_stop", { index: 0 }) +
      frame("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }) +
      frame("message_stop", {}),
  },
  generate_content: { whole: candidates, stream: bare(candidates) },
};

/** The protocol a path belongs to. */
function protocolOf(path: string): Protocol {
  if (path.includes("/chat/completions")) return "chat";
  if (path.includes("/responses")) return "responses";
  return path.includes("/messages") ? "messages" : "generate_content";
}

/** A short answer in the protocol and the form of the request. */
export const shortAnswer: Answer = ({ path, body }, reply) => {
  const { whole, stream } = short[protocolOf(path)];
  const streams = body["stream"] === true || path.includes("streamGenerateContent");
  reply
    .writeHead(200, { "content-type": streams ? "text/event-stream" : "application/json" })
    .end(streams ? stream : JSON.stringify(whole));
};

const filtered = [
  "service_tier",
  "serviceTier",
  "inference_geo",
  "speed",
  "fallbacks",
  "background_options",
];

/**
 * The body that the upstream must receive: the same members in the same order, the model renamed in its place, the filtered
 * fields removed. Chat streams request usage.
 */
export function expectedUpstream(protocol: Protocol, sent: Body): string {
  const body = Object.fromEntries(
    Object.entries(sent).filter(([name]) => !filtered.includes(name)),
  );
  if (protocol === "generate_content") delete body["model"];
  else body["model"] = upstreamModel;
  if (protocol === "chat" && body["stream"] === true) {
    body["stream_options"] = { ...(body["stream_options"] as object), include_usage: true };
  }
  return JSON.stringify(body);
}
