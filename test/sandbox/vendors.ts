/** The four endpoints together, for tests that hold for all of them: one user text in, the raw HTTP answer out. */
import { createSseParser } from "../../src/base/sse.ts";

export interface Endpoint {
  readonly name: string;
  readonly path: string;
  readonly streamPath: string;
  readonly headers: Readonly<Record<string, string>>;
  body(text: string, stream: boolean): object;
  /** All text in a whole answer or in a stream's event. */
  text(json: unknown): string;
  /** A text in the last event of a complete stream. */
  readonly endMarker: string;
}

interface LooseJson {
  readonly [name: string]: LooseJson | undefined;
  readonly [index: number]: LooseJson | undefined;
}

const textAt = (found: unknown): string => (typeof found === "string" ? found : "");
const model = "sandbox-large";

export const endpoints: readonly Endpoint[] = [
  {
    name: "chat",
    path: "/openai/v1/chat/completions",
    streamPath: "/openai/v1/chat/completions",
    headers: { authorization: "Bearer sandbox" },
    body: (content, stream) => ({ model, stream, messages: [{ role: "user", content }] }),
    text(json) {
      const choice = (json as LooseJson)["choices"]?.[0];
      return textAt(choice?.["message"]?.["content"] ?? choice?.["delta"]?.["content"]);
    },
    endMarker: "[DONE]",
  },
  {
    name: "responses",
    path: "/openai/v1/responses",
    streamPath: "/openai/v1/responses",
    headers: { authorization: "Bearer sandbox" },
    body: (input, stream) => ({ model, stream, input }),
    text(json) {
      const found = json as LooseJson;
      return textAt(found["delta"] ?? found["output"]?.[0]?.["content"]?.[0]?.["text"]);
    },
    endMarker: "response.completed",
  },
  {
    name: "messages",
    path: "/anthropic/v1/messages",
    streamPath: "/anthropic/v1/messages",
    headers: { "x-api-key": "sandbox", "anthropic-version": "2023-06-01" },
    body: (content, stream) => ({
      model,
      stream,
      max_tokens: 100_000,
      messages: [{ role: "user", content }],
    }),
    text(json) {
      const found = json as LooseJson;
      return textAt(found["delta"]?.["text"] ?? found["content"]?.[0]?.["text"]);
    },
    endMarker: "message_stop",
  },
  {
    name: "generate_content",
    path: "/google/v1beta/models/sandbox-large:generateContent",
    streamPath: "/google/v1beta/models/sandbox-large:streamGenerateContent?alt=sse",
    headers: { "x-goog-api-key": "sandbox" },
    body: (text) => ({ contents: [{ role: "user", parts: [{ text }] }] }),
    text: (json) =>
      textAt((json as LooseJson)["candidates"]?.[0]?.["content"]?.["parts"]?.[0]?.["text"]),
    endMarker: "finishReason",
  },
];

interface SendOptions {
  readonly url: string;
  readonly endpoint: Endpoint;
  readonly text: string;
  readonly stream: boolean;
  readonly signal?: AbortSignal;
}

export const send = ({ url, endpoint, text, stream, signal }: SendOptions): Promise<Response> =>
  fetch(url + (stream ? endpoint.streamPath : endpoint.path), {
    method: "POST",
    headers: { "content-type": "application/json", ...endpoint.headers },
    body: JSON.stringify(endpoint.body(text, stream)),
    ...(signal ? { signal } : {}),
  });

export interface Received {
  /** The data of each event that arrived. */
  readonly events: string[];
  /** The pieces of the body as the client received them. */
  readonly packets: Uint8Array[];
  /** True if the connection broke before the stream had ended. */
  readonly broken: boolean;
}

/** Reads a stream to its end, or to its break. `heard` is called for each piece. */
export async function receive(
  response: Response,
  heard: () => void = () => undefined,
): Promise<Received> {
  const parser = createSseParser();
  const events: string[] = [];
  const packets: Uint8Array[] = [];
  try {
    for await (const packet of response.body!) {
      packets.push(packet);
      heard();
      events.push(...parser.push(packet).map(({ data }) => data));
    }
  } catch {
    return { events, packets, broken: true };
  }
  return { events: [...events, ...parser.end().map(({ data }) => data)], packets, broken: false };
}

/** The joined text of a stream's events. */
export const textOf = (endpoint: Endpoint, events: readonly string[]): string =>
  events
    .filter((data) => data !== "[DONE]")
    .map((data) => endpoint.text(JSON.parse(data)))
    .join("");
