/** Reads a stream's text with the vendors' SDKs, and returns the whole answer that their callers get. */
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import type { ProtocolName } from "../../src/protocols/index.ts";
import { isWire, items, text, wire, type Wire } from "../transcripts/readers/index.ts";

const hello = { role: "user", content: "Hi" } as const;

/** The target of an SDK: a gateway or a stub. */
export interface StreamRequest {
  readonly url: string;
  readonly apiKey: string;
  readonly model: string;
  readonly fetch: typeof fetch;
}

const openai = ({ url, apiKey, fetch }: StreamRequest) =>
  new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0, fetch });

/** Streams a call with a protocol's SDK. Returns the assembled answer, and throws the SDK's errors. */
export const streamBySdk: Readonly<Record<ProtocolName, (asked: StreamRequest) => Promise<Wire>>> =
  {
    async chat(asked) {
      const { model } = asked;
      const stream_options = { include_usage: true };
      const read = openai(asked).chat.completions.stream({
        model,
        messages: [hello],
        stream_options,
      });
      const gathered: Wire = {};
      read.on("chunk", ({ choices }) => gather(gathered, wire(choices[0]?.delta)));
      const whole = wire(await read.finalChatCompletion());
      const [choice = {}, ...others] = items(whole["choices"]);
      const told = { ...choice, message: { ...wire(choice["message"]), ...gathered } };
      return { ...whole, choices: [told, ...others] };
    },
    async responses(asked) {
      const { model } = asked;
      return wire(await openai(asked).responses.stream({ model, input: "Hi" }).finalResponse());
    },
    async messages({ url, apiKey, model, fetch }) {
      const client = new Anthropic({ apiKey, baseURL: url, maxRetries: 0, fetch });
      const read = client.beta.messages.stream({ model, max_tokens: 100, messages: [hello] });
      return wire(await read.finalMessage());
    },
    async generate_content({ url, apiKey, model, fetch }) {
      const { models } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url, fetch } });
      const chunks: Wire[] = [];
      for await (const chunk of await models.generateContentStream({ model, contents: "Hi" }))
        chunks.push(wire(chunk));
      return readChunks(chunks);
    },
  };

/** Reads a stream's text with a protocol's SDK. */
export const readBySdk = (protocol: ProtocolName, stream: string): Promise<Wire> => {
  const headers = { "content-type": "text/event-stream" };
  const fetch = () => Promise.resolve(new Response(stream, { headers }));
  const asked = { url: "http://nowhere.invalid", apiKey: "no-key", model: "acme/talk", fetch };
  return streamBySdk[protocol](asked);
};

/** Members unknown to OpenAI's SDK. It keeps only their last piece, so callers must join the pieces. */
const unknown = ["reasoning_content", "reasoning_details", "annotations", "images"];

function gather(gathered: Wire, delta: Wire): void {
  for (const name of unknown) {
    const [before, piece] = [gathered[name], delta[name]];
    if (typeof piece === "string") gathered[name] = text(before) + piece;
    else if (Array.isArray(piece)) gathered[name] = [...items(before), ...items(piece)];
  }
}

/** Joins chunks, which Google's SDK leaves to its callers: the last value of each member counts, and parts are appended. */
export function joinChunks(chunks: readonly Wire[]): Wire {
  const joined: Wire = {};
  const candidate: Wire = {};
  const parts: Wire[] = [];
  for (const { candidates, usageMetadata, sdkHttpResponse: _transport, ...others } of chunks) {
    const { content, ...said } = items(candidates)[0] ?? {};
    Object.assign(joined, others);
    Object.assign(candidate, said);
    if (usageMetadata)
      joined["usageMetadata"] = { ...wire(joined["usageMetadata"]), ...wire(usageMetadata) };
    parts.push(...items(wire(content)["parts"]));
  }
  return {
    ...joined,
    candidates: [{ ...candidate, content: { role: "model", parts: joinParts(parts) } }],
  };
}

/** Joins chunks, and replaces citation offsets with the cited words. */
function readChunks(chunks: readonly Wire[]): Wire {
  const parts = (chunk: Wire): Wire[] =>
    items(wire(items(chunk["candidates"])[0]?.["content"])["parts"]);
  const own = chunks.length === 1 ? parts(chunks[0]!) : undefined;
  const whole = joinChunks(chunks);
  const [candidate = {}] = items(whole["candidates"]);
  return { ...whole, candidates: [{ ...candidate, ...supported(candidate, parts(whole), own) }] };
}

/**
 * Replaces segments with their words. Byte offsets count from the beginning of a part in a whole answer, and of all text in a
 * stream. `parts` are those of the answer; `own` is set if the answer is whole.
 */
function supported(
  { groundingMetadata }: Wire,
  parts: readonly Wire[],
  own?: readonly Wire[],
): Wire {
  const { groundingSupports, ...others } = wire(groundingMetadata);
  if (!Array.isArray(groundingSupports)) return {};
  const all = parts.filter((part) => isText(part) && part["thought"] !== true);
  const supports = items(groundingSupports).map((support) => {
    const { partIndex = 0, startIndex = 0, endIndex, ...segment } = wire(support["segment"]);
    const of = own
      ? text(own[Number(partIndex)]?.["text"])
      : all.map((part) => text(part["text"])).join("");
    const words = Buffer.from(of).subarray(Number(startIndex), Number(endIndex)).toString();
    return { ...support, segment: { ...segment, words } };
  });
  return { groundingMetadata: { ...others, groundingSupports: supports } };
}

const isText = (part: Wire | undefined): part is Wire => typeof part?.["text"] === "string";

/** Joins neighbouring texts of one kind. A signature on a part without text belongs to the part before. */
function joinParts(parts: readonly Wire[]): Wire[] {
  const joined: Wire[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    const goesOn = isText(part) && isText(last) && last["thought"] === part["thought"];
    if (goesOn && !("thoughtSignature" in last))
      joined[joined.length - 1] = {
        ...last,
        ...part,
        text: text(last["text"]) + text(part["text"]),
      };
    else if (!isText(part) || part["text"] !== "" || "thoughtSignature" in part) joined.push(part);
  }
  return joined;
}

/** Members that depend on the SDK, the gateway or the time, not on the content. */
const added =
  /^(?:id|created|created_at|completed_at|createTime|object|model|modelVersion|responseId|parsed|parsed_arguments|output_text|output_parsed|sdkHttpResponse|system_fingerprint|_request_id)$/;
/** Messages streams report cache lifetimes only at their start, when no other vendor knows them. */
const atStartOnly = "cache_creation";

/** True for a tool call, whose id is needed for its result and so is compared. */
const isCall = (value: Wire): boolean =>
  value["type"] === "tool_use" || ["function", "custom", "args"].some((name) => name in value);

/** An answer in comparable form: null, empty and absent members are equal. */
export function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (!isWire(value)) return value;
  const told = Object.entries(value).filter(
    ([name, member]) =>
      (!added.test(name) || (name === "id" && isCall(value))) &&
      name !== atStartOnly &&
      member !== null &&
      member !== undefined &&
      member !== "" &&
      !(Array.isArray(member) && member.length === 0),
  );
  return Object.fromEntries(told.map(([name, member]) => [name, comparable(member)]));
}
