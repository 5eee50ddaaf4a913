/**
 * Every member of a request in the vendors' SDK types, at every place, to every other protocol. With it the upstream's request
 * changes, or a loss is reported, or the call is refused. A table lists members without meaning. New members of newer SDKs must be
 * listed, carried or reported. CONV-101 to CONV-113, RESP-25 to RESP-31; T33.
 */
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import {
  codecs,
  protocolNames,
  type JsonObject,
  type ProtocolName,
} from "../../src/protocols/index.ts";
import { routeOf } from "../conversion/route.ts";
import { shortOrLong } from "../support/long.ts";
import type { Case } from "./cases.ts";
import { requestCases } from "./requests.ts";

/** The sent body and the reported places, or the refused place. */
type Outcome =
  | { readonly sent: string; readonly reported: readonly string[] }
  | { readonly refused: string };

function outcome(caller: ProtocolName, upstream: ProtocolName, body: unknown): Outcome {
  try {
    codecs[caller].direct.validate(body as JsonObject);
    const { body: asked, notes } = routeOf(caller, upstream, body as JsonObject, {
      maxOutputTokens: 32_000,
    });
    return { sent: JSON.stringify(asked), reported: notes.map(({ param }) => param) };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.status !== 400 || !error.param) throw error;
    return { refused: error.param };
  }
}

/** A place without indexes. Parts of Google's instructions are reported under `contents`. */
const plain = (place: string): string =>
  place.replaceAll(/\[\d*\]/g, "").replace(/^systemInstruction\b/, "contents");
/** Reports with these names concern something in the conversation, without saying what. */
const conversation: readonly string[] = ["messages", "input", "contents"];

/** Reports under another member's name, with the place that they concern. */
const alsoOf: Readonly<Record<string, string>> = {
  "messages.tool_call_id": "messages.content",
  "messages.content.signature": "messages.content.data",
  "input.reasoning": "input.summary",
  "contents.parts.fileData": "contents.parts.functionResponse.parts",
};

/** True if a report concerns a place: the place itself, a parent or a child. */
function isOf(param: string, place: string): boolean {
  if (conversation.includes(param)) return false;
  const [told, own] = [plain(param), plain(place)];
  // Cache markers within results are reported under their parent's name.
  const isMarker = told.endsWith(".cache_control") && own.includes(".cache_control");
  if (isMarker) return own.startsWith(told.replace(/\w+$/, ""));
  if (own.startsWith(alsoOf[told] ?? " ")) return true;
  const hasDocument = told.endsWith(".document") || told.endsWith(".search_result");
  if (hasDocument) return `${own}.`.startsWith(told.replace(/\w+$/, ""));
  return own === told || own.startsWith(`${told}.`) || told.startsWith(`${own}.`);
}

/** Values that change nothing, because they are the default or have no meaning. Undefined: all values of the member. */
const saysNothing: Readonly<
  Record<ProtocolName, Readonly<Record<string, readonly unknown[] | undefined>>>
> = {
  chat: {
    // A list with one text equals the text.
    "messages[].content": [[{ text: "word", type: "text" }]],
    "messages[].content[].image_url.detail": ["auto"],
    "functions[].parameters": [{}],
    response_format: [{ type: "text" }],
    // Gemini always enforces the schema of an answer.
    "response_format.json_schema.strict": undefined,
    "tools[].function.strict": [false],
    // The gateway itself decides about streaming.
    stream: undefined,
    stream_options: [{}],
    "stream_options.include_usage": undefined,
  },
  responses: {
    "input[].content": [[{ text: "word", type: "input_text" }]],
    "input[].output": [[{ text: "word", type: "input_text" }]],
    "input[].type": ["message"],
    // These belong to stored items, and mean nothing outside the vendor's store.
    "input[].id": undefined,
    "input[].status": undefined,
    "input[].output_format": ["png"],
    // The model is in the call's path, or under the same name.
    model: undefined,
    reasoning: [{}],
    stream: undefined,
    stream_options: [{}],
    text: [{}],
    "text.format": [{ type: "text" }],
    "text.format.strict": undefined,
    "tools[].strict": [false],
  },
  messages: {
    "messages[].content": [[{ text: "word", type: "text" }]],
    "messages[].content[].is_error": [false],
    output_config: [{}],
    stream: undefined,
    // By default, responses returns no thoughts.
    "thinking.display": ["omitted"],
    // The minimal request has the same tool.
    tools: undefined,
    "tools[].strict": [false],
    "tools[].type": ["custom"],
  },
  generate_content: {
    "contents[].role": ["user"],
    "systemInstruction.role": undefined,
    // Results are matched by order with calls that have no ids.
    "contents[].parts[].functionResponse.id": undefined,
    "toolConfig.functionCallingConfig.mode": ["MODE_UNSPECIFIED", "AUTO"],
    "generationConfig.thinkingConfig": [{}],
    "generationConfig.thinkingConfig.includeThoughts": [false],
    "generationConfig.thinkingConfig.thinkingLevel": ["THINKING_LEVEL_UNSPECIFIED"],
  },
};

function isDecided(caller: ProtocolName, { place, value }: Case): boolean {
  const table = saysNothing[caller];
  if (!(place in table)) return false;
  const values = table[place];
  return (
    values === undefined || values.some((one) => JSON.stringify(one) === JSON.stringify(value))
  );
}

/** Each value at each place once, and every `step`th of the repeated ones. */
function sampled(cases: readonly Case[], step: number): Case[] {
  const seen = new Set<string>();
  return cases.filter(({ place, value }, index) => {
    const key = `${place} ${JSON.stringify(value)}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew || index % step === 0;
  });
}

/** True if the member changes nothing in the upstream's request and no loss is reported. */
function isGone(caller: ProtocolName, upstream: ProtocolName, one: Case): boolean {
  const given = outcome(caller, upstream, one.with);
  if ("refused" in given) return false;
  const other = outcome(caller, upstream, one.without);
  if ("refused" in other || given.sent !== other.sent) return false;
  return !given.reported.some((param) => isOf(param, one.place));
}

/** The minimum number of cases, because a type reader that finds none would find no fault. */
const leastCases: Readonly<Record<ProtocolName, number>> = {
  chat: 150,
  responses: 1000,
  messages: 500,
  generate_content: 500,
};

describe.each(protocolNames)("the members of a request of %s", (caller) => {
  const all = requestCases(caller);
  const cases = sampled(all, shortOrLong(20, 1));
  const targets = protocolNames.filter((name) => name !== caller);

  it.each(targets)(
    "T33: are sent, reported or refused (to %s)",
    { timeout: 120_000 },
    (upstream) => {
      expect(all.length).toBeGreaterThan(leastCases[caller]);
      const gone = cases.filter((one) => !isDecided(caller, one) && isGone(caller, upstream, one));
      const places = gone.map(({ place, value }) => `${place}: ${JSON.stringify(value)}`);
      expect([...new Set(places)]).toEqual([]);
    },
  );
});
