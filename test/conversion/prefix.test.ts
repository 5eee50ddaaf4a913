/**
 * Sessions of agents, between all callers and vendors. Each request that a vendor gets begins with the one before. Otherwise its prompt
 * cache loses the session, and the caller pays the full price of the whole input in every turn. Requirements: CONV-217.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Part, Signature, UpstreamProtocol } from "../../src/protocols/canonical/request.ts";
import { protocolNames, type ProtocolName, type JsonObject } from "../../src/protocols/index.ts";
import { routeOf } from "./route.ts";
import { agentClients, type ClientCall } from "./agent-clients.ts";
import { PromptCache } from "./prompt-cache.ts";
import { copyOf, divided, kept, toolsIn } from "./session.ts";

/** The vendors with rules of their own, by the protocol and the name of a model. */
type Upstream = readonly [UpstreamProtocol, string];
const upstreams: readonly Upstream[] = [
  ["chat", "gpt-5"],
  ["chat", "mistral-large"],
  ["chat", "deepseek-v4"],
  ["chat", "qwen3-max"],
  ["chat", "kimi-k3"],
  ["chat", "mimo-v2"],
  ["chat", "gemini-3-pro"],
  ["responses", "gpt-5"],
  ["messages", "claude-sonnet-4-5"],
  ["messages", "deepseek-v4"],
  ["generate_content", "gemini-3-pro"],
  ["generate_content", "gemini-2.5-flash"],
  ["converse", "anthropic.claude-sonnet-4-5"],
  ["converse", "amazon.nova-pro"],
  ["converse", "mistral.mistral-large-3"],
  ["converse", "meta.llama4"],
  ["converse", "qwen.qwen3"],
];

/** An answer of the model: it waits for results if it has calls, otherwise for the user. */
interface Step {
  readonly thought: { readonly text: string; readonly isSigned: boolean } | undefined;
  readonly said: string | undefined;
  /** The numbers of the tools that it calls, and the form of the vendor's ids. */
  readonly calls: readonly number[];
  readonly id: (typeof idForms)[number];
  readonly picture: boolean;
  readonly reminder: boolean;
  readonly results: (typeof resultForms)[number];
  /** True if the user says something before the model has read the results. */
  readonly interrupts: boolean;
}

const idForms = [
  "call_",
  "functions.look:",
  "toolu_01",
  `chatcmpl-tool-${"f".repeat(32)}`,
] as const;

/** How a client sends the results of several calls. The first of two may be lost, as if the user had stopped that call. */
const resultForms = [
  "in order",
  "in reverse",
  "without the first",
  "with the first twice",
] as const;

const words = fc.constantFrom(
  "Where is it?",
  "It stands\n\nthere.",
  '{"format":"json"}',
  " ",
  "ß\u2028",
  "",
  "\0",
  "\ud800",
  "</think>",
  "<system-reminder>x</system-reminder>",
  "x".repeat(2_000),
);
const some = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const someStep: fc.Arbitrary<Step> = fc.record({
  thought: some(fc.record({ text: words, isSigned: fc.boolean() })),
  said: some(words),
  calls: fc.array(fc.nat(9), { maxLength: 3 }),
  id: fc.constantFrom(...idForms),
  picture: fc.boolean(),
  reminder: fc.boolean(),
  results: fc.constantFrom("in order", ...resultForms),
  interrupts: fc.boolean(),
});

interface Session {
  readonly steps: readonly Step[];
  readonly isStream: boolean;
  readonly asksJson: boolean;
}
const someSession: fc.Arbitrary<Session> = fc.record({
  steps: fc.array(someStep, { minLength: 3, maxLength: 6 }),
  isStream: fc.boolean(),
  asksJson: fc.boolean(),
});

const signatureAt = (to: UpstreamProtocol, id: string): Signature | undefined => {
  if (to === "converse") return undefined;
  const details = JSON.stringify([{ type: "reasoning.encrypted", data: id, id }]);
  return { protocol: to, value: to === "chat" ? details : `sig-${id}` };
};

function contentOf(step: Step, to: UpstreamProtocol, id: string, body: JsonObject): Part[] {
  const { thought, said, calls } = step;
  const tools = toolsIn(body);
  const content: Part[] = [];
  if (thought) {
    const signature = thought.isSigned ? signatureAt(to, id) : undefined;
    content.push({ type: "reasoning", text: thought.text, ...(signature ? { signature } : {}) });
  }
  // An answer that says nothing leaves two turns of the user side by side, which become one.
  const isEmpty = calls.length === 0 && (said ?? "").trim() === "";
  if (isEmpty || said !== undefined) content.push({ type: "text", text: isEmpty ? "No." : said! });
  for (const [index, number] of calls.entries()) {
    const tool = tools[number % tools.length]!;
    const input = tool.custom ? "*** Begin Patch" : JSON.stringify({ input: said ?? "a" });
    content.push({ type: "tool_call", id: `${step.id}${id}${index}`, ...tool, arguments: input });
  }
  return content;
}

/** The calls whose results the client sends, in its order. */
function answered(calls: readonly ClientCall[], { results }: Step): readonly ClientCall[] {
  const [first, ...others] = calls;
  if (results === "in reverse") return calls.toReversed();
  if (results === "without the first" && others.length > 0) return others;
  return results === "with the first twice" ? [...calls, first!] : calls;
}

/** How the calls of a session come to their cache markers. */
type Marking = "a prompt_cache_key" | "prompt_caching: auto";

/** The requests that the vendor gets in a session, perhaps marked for its cache. */
function requestsOf(
  from: ProtocolName,
  [to, model]: Upstream,
  { steps, ...how }: Session,
  marking?: Marking,
) {
  const client = agentClients[from];
  const turns = client.asks({ text: "Where is it?", picture: true });
  return steps.map((step, index): JsonObject => {
    const id = `a${index}`;
    const { isStream, asksJson } = how;
    const body = {
      model: "acme/x",
      ...client.body(turns),
      ...(asksJson ? asking[from] : {}),
      ...(marking === "a prompt_cache_key" ? { prompt_cache_key: "s1" } : {}),
    };
    const marks = {
      marksSessions: marking !== undefined,
      marksConversations: marking === "prompt_caching: auto",
    };
    const options = { upstreamModel: model, stream: isStream, id: `req_${id}`, ...marks };
    const route = routeOf(from, to, copyOf(body), options);
    const sent = copyOf(route.body);
    const answer = kept({ from, to, isStream, route, id }, contentOf(step, to, id, sent));
    turns.push(...answer);
    const calls = client.callsIn(answer);
    const { picture } = step;
    if (calls.length > 0) {
      const text = step.said ?? "There.";
      turns.push(...client.results(answered(calls, step), { text, picture }));
      if (step.interrupts) turns.push(...client.asks({ text: "Be brief.", picture: false }));
    } else turns.push(...client.asks({ text: step.said ?? "And now?", picture }));
    if (step.reminder) turns.push(...client.reminds(`A reminder ${index}.`));
    return sent;
  });
}

/** JSON without a schema, in each protocol that can ask for it. */
const asking: Readonly<Record<ProtocolName, JsonObject>> = {
  chat: { response_format: { type: "json_object" } },
  responses: { text: { format: { type: "json_object" } } },
  messages: {},
  generate_content: { generationConfig: { responseMimeType: "application/json" } },
};

describe("a session of an agent", () => {
  const pairs = protocolNames.flatMap((from) =>
    upstreams.map((upstream) => [from, ...upstream] as const),
  );

  it.each(pairs)(
    "CONV-217: a %s caller's begins the same in each turn at %s %s",
    (from, to, model) => {
      fc.assert(
        fc.property(someSession, (played) => {
          const requests = requestsOf(from, [to, model], played).map(divided);
          for (const [index, { turns, others }] of requests.slice(1).entries()) {
            const before = requests[index]!;
            expect(others).toBe(before.others);
            expect(turns.slice(0, before.turns.length)).toEqual(before.turns);
          }
        }),
        { numRuns: 4 },
      );
    },
  );

  const claudes = upstreams.filter(([, model]) => /claude/.test(model));
  const ways: readonly (readonly [ProtocolName, Marking])[] = [
    ["chat", "a prompt_cache_key"],
    ["responses", "a prompt_cache_key"],
    ["chat", "prompt_caching: auto"],
    ["responses", "prompt_caching: auto"],
    ["generate_content", "prompt_caching: auto"],
  ];
  const marked = ways.flatMap(([from, marking]) =>
    claudes.map((at) => [from, marking, ...at] as const),
  );

  it.each(marked)(
    "CONV-418 CONV-605: a %s caller's with %s reads at %s %s all that it had written",
    (from, marking, to, model) => {
      fc.assert(
        fc.property(someSession, (played) => {
          const cache = new PromptCache();
          const requests = requestsOf(from, [to, model], played, marking);
          const calls = requests.map((one) => cache.call(one));
          for (const [index, { read, marked: end, blocks }] of calls.slice(1).entries()) {
            expect(read).toBe(calls[index]!.marked);
            expect(end).toBe(blocks);
          }
          expect(calls[0]!.marked === 0).toBe(marking === "prompt_caching: auto");
        }),
        { numRuns: 30 },
      );
    },
  );
});
