/**
 * Every member that the vendors' SDKs know of a request, at every place, to every other protocol: with it the upstream is asked something
 * else than without it, or the caller is told, or the call is refused. What says nothing stands in a table; a member that a newer SDK
 * has is decided there, carried, or reported. CONV-101 to CONV-113, RESP-25 to RESP-31; T33.
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
import { inForm } from "../support/long.ts";
import type { Case } from "./cases.ts";
import { requestCases } from "./requests.ts";

/** What is sent, and the places that are reported; or the place that is refused. */
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

/** A place without numbers. What stands in Google's instructions is reported as of its contents. */
const plain = (place: string): string =>
  place.replaceAll(/\[\d*\]/g, "").replace(/^systemInstruction\b/, "contents");
/** A report of these is of something within the conversation, and does not say of what. */
const conversation: readonly string[] = ["messages", "input", "contents"];

/** Reports that name something by another member, each with what it is of. */
const alsoOf: Readonly<Record<string, string>> = {
  "messages.tool_call_id": "messages.content",
  "messages.content.signature": "messages.content.data",
  "input.reasoning": "input.summary",
  "contents.parts.fileData": "contents.parts.functionResponse.parts",
};

/** Whether a report is of a place: itself, what holds it, or what it holds. */
function isOf(param: string, place: string): boolean {
  if (conversation.includes(param)) return false;
  const [told, own] = [plain(param), plain(place)];
  // Markers within results have no name of their own.
  const isMarker = told.endsWith(".cache_control") && own.includes(".cache_control");
  if (isMarker) return own.startsWith(told.replace(/\w+$/, ""));
  if (own.startsWith(alsoOf[told] ?? " ")) return true;
  const hasDocument = told.endsWith(".document") || told.endsWith(".search_result");
  if (hasDocument) return `${own}.`.startsWith(told.replace(/\w+$/, ""));
  return own === told || own.startsWith(`${told}.`) || told.startsWith(`${own}.`);
}

/** Without these values the same is asked, because they say what holds anyway, or nothing. Absent: all values. */
const saysNothing: Readonly<
  Record<ProtocolName, Readonly<Record<string, readonly unknown[] | undefined>>>
> = {
  chat: {
    // A list of one text is the text.
    "messages[].content": [[{ text: "word", type: "text" }]],
    "messages[].content[].image_url.detail": ["auto"],
    "functions[].parameters": [{}],
    response_format: [{ type: "text" }],
    // Gemini holds every answer to its schema.
    "response_format.json_schema.strict": undefined,
    "tools[].function.strict": [false],
    // How the answer comes is the gateway's.
    stream: undefined,
    stream_options: [{}],
    "stream_options.include_usage": undefined,
  },
  responses: {
    "input[].content": [[{ text: "word", type: "input_text" }]],
    "input[].output": [[{ text: "word", type: "input_text" }]],
    "input[].type": ["message"],
    // Of stored items; outside the vendor's store they say nothing.
    "input[].id": undefined,
    "input[].status": undefined,
    "input[].output_format": ["png"],
    // It stands in the path of the call, or under the same name.
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
    // responses tells no thoughts unless it is asked for them.
    "thinking.display": ["omitted"],
    // The same tool as the smallest request has.
    tools: undefined,
    "tools[].strict": [false],
    "tools[].type": ["custom"],
  },
  generate_content: {
    "contents[].role": ["user"],
    "systemInstruction.role": undefined,
    // Results are paired with calls that have no ids by their order.
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

/** Each place once, and of what comes again at a place so many of so many. */
function sampled(cases: readonly Case[], step: number): Case[] {
  const seen = new Set<string>();
  return cases.filter(({ place, value }, index) => {
    const key = `${place} ${JSON.stringify(value)}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew || index % step === 0;
  });
}

/** Whether the upstream is asked the same with and without, and nobody is told. */
function isGone(caller: ProtocolName, upstream: ProtocolName, one: Case): boolean {
  const given = outcome(caller, upstream, one.with);
  if ("refused" in given) return false;
  const other = outcome(caller, upstream, one.without);
  if ("refused" in other || given.sent !== other.sent) return false;
  return !given.reported.some((param) => isOf(param, one.place));
}

/** The least that a run must have looked at: a reader of types that finds none would find no fault. */
const leastCases: Readonly<Record<ProtocolName, number>> = {
  chat: 150,
  responses: 1000,
  messages: 500,
  generate_content: 500,
};

describe.each(protocolNames)("what a request of %s may say", (caller) => {
  const all = requestCases(caller);
  const cases = sampled(all, inForm(20, 1));
  const targets = protocolNames.filter((name) => name !== caller);

  it.each(targets)(
    "T33: is asked, reported or refused (to %s)",
    { timeout: 120_000 },
    (upstream) => {
      expect(all.length).toBeGreaterThan(leastCases[caller]);
      const gone = cases.filter((one) => !isDecided(caller, one) && isGone(caller, upstream, one));
      const places = gone.map(({ place, value }) => `${place}: ${JSON.stringify(value)}`);
      expect([...new Set(places)]).toEqual([]);
    },
  );
});
