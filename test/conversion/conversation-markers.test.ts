/**
 * Conversations of callers who name no session, at Claude, where the operator says `prompt_caching: auto`. docs/decisions.md "Prompt caches";
 * CONV-418, CONV-605.
 */
import { describe, expect, it } from "vitest";
import type { Part } from "../../src/protocols/canonical/request.ts";
import type { JsonObject } from "../../src/protocols/index.ts";
import { readCase } from "../agents/cases.ts";
import { agentClients } from "./agent-clients.ts";
import { PromptCache, type CachedCall } from "./prompt-cache.ts";
import { routeOf } from "./route.ts";
import { copyOf, kept, toolsIn } from "./session.ts";

const callers = ["chat", "responses", "generate_content"] as const;
type Caller = (typeof callers)[number];
const upstreams = ["messages", "converse"] as const;
type Upstream = (typeof upstreams)[number];
const pairs = callers.flatMap((from) => upstreams.map((to) => [from, to] as const));
const upstreamModel = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

const sent = (from: Caller | "messages", to: Upstream, body: object, auto = true) =>
  routeOf(from, to, copyOf({ model: "acme/x", ...body }), {
    upstreamModel,
    marksSessions: true,
    marksConversations: auto,
    maxOutputTokens: 64_000,
  });
const markersIn = (body: JsonObject): number =>
  JSON.stringify(body).match(/cache_control|cachePoint/g)?.length ?? 0;

interface Talk {
  readonly calls: number;
  readonly auto?: boolean;
  /** The caches of the vendor's accounts, which are asked in turn. */
  readonly caches?: readonly PromptCache[];
}

/** The calls of an agent that works with a tool, as the vendor's cache sees them. */
function played([from, to]: readonly [Caller, Upstream], talk: Talk): CachedCall[] {
  const { calls, auto = true, caches = [new PromptCache()] } = talk;
  const client = agentClients[from];
  const turns = client.asks({ text: "Where is the mistake? ".repeat(20), picture: false });
  return Array.from({ length: calls }, (_, step) => {
    const id = `a${step}`;
    const route = sent(from, to, client.body(turns), auto);
    const body = copyOf(route.body);
    const { name } = toolsIn(body)[0]!;
    const content: Part[] = [
      { type: "text", text: `I look at file ${step}. `.repeat(10) },
      { type: "tool_call", id: `${id}_1`, name, arguments: "{}" },
    ];
    const answer = kept({ from, to, isStream: false, route, id }, content);
    turns.push(...answer);
    const text = `Line ${step} of the file. `.repeat(80);
    turns.push(...client.results(client.callsIn(answer), { text, picture: false }));
    return caches[step % caches.length]!.call(body);
  });
}

const said = (role: string, text: string) => ({ role, parts: [{ text }] });

/** Short conversations: a system prompt, a question, an answer and a reply. */
const talks = {
  chat: {
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Where?" },
      { role: "assistant", content: "Here." },
      { role: "user", content: "And now?" },
    ],
  },
  responses: {
    instructions: "Be brief.",
    input: [
      { role: "user", content: "Where?" },
      { role: "assistant", content: "Here." },
      { role: "user", content: "And now?" },
    ],
  },
  generate_content: {
    contents: [said("user", "Where?"), said("model", "Here."), said("user", "And now?")],
  },
} as const;

const keyOf = (from: Caller, key: string) =>
  from === "generate_content" ? {} : { prompt_cache_key: key };

const billOf = (calls: readonly CachedCall[]): number =>
  calls.reduce((sum, { bill }) => sum + bill, 0);

describe("a conversation without a session", () => {
  it.each(pairs)("CONV-418 CONV-605: costs less from its third call on (%s at %s)", (...pair) => {
    const [auto, asked] = [true, false].map((how) => played(pair, { calls: 10, auto: how }));
    const share = (calls: number) => billOf(auto!.slice(0, calls)) / billOf(asked!.slice(0, calls));
    expect(share(1)).toBe(1);
    expect(share(2)).toBeLessThan(1.25);
    expect(share(3)).toBeLessThan(0.9);
    expect(share(10)).toBeLessThan(0.35);
    const [first, second, ...later] = auto!;
    expect([first!.ends.length, second!.read, second!.ends.length]).toEqual([0, 0, 4]);
    for (const [index, { read, marked, blocks }] of later.entries())
      expect([read, marked]).toEqual([(later[index - 1] ?? second!).blocks, blocks]);
  });

  it.each(upstreams)("CONV-418: reads at %s all that Gemini CLI sent before", (to) => {
    const { body, steps } = readCase("gemini-cli-on-generate-content");
    const cache = new PromptCache();
    const calls = steps.map((step) =>
      cache.call(sent("generate_content", to, { ...body, ...step }).body),
    );
    const [first, second, third] = calls;
    expect(first!.ends).toEqual([]);
    expect(second).toMatchObject({ read: 0, marked: second!.blocks });
    expect(third).toMatchObject({ read: second!.blocks, marked: third!.blocks });
  });

  it("costs more with each account that its calls are spread over, so they stay with one", () => {
    const bills = [1, 2, 5].map((accounts) => {
      const caches = Array.from({ length: accounts }, () => new PromptCache());
      return billOf(played(["generate_content", "messages"], { calls: 10, caches }));
    });
    expect(bills[1]! / bills[0]!).toBeGreaterThan(1.5);
    expect(bills[2]! / bills[0]!).toBeGreaterThan(2.5);
  });

  it.each([
    ["chat", "messages"],
    ["responses", "input"],
    ["generate_content", "contents"],
  ] as const)(
    "TXT-16: is reported to a caller of %s by the name of its turns, %s",
    (from, param) => {
      const talk = { ...talks[from], ...keyOf(from, "") };
      for (const to of upstreams) {
        const { body, notes } = sent(from, to, talk);
        expect(markersIn(body)).toBe(from === "generate_content" ? 2 : 3);
        const detail = expect.stringContaining("`prompt_caching: auto`");
        const own =
          from === "generate_content" ? [] : [{ param: "prompt_cache_key", kind: "dropped" }];
        const made = { param, kind: "rewritten", detail };
        expect(notes).toHaveLength(own.length + 1);
        expect(notes).toEqual(
          expect.arrayContaining([...own, made].map((note) => expect.objectContaining(note))),
        );
      }
    },
  );

  it("CONV-418: with a prompt_cache_key is marked and reported as without the setting", () => {
    for (const from of ["chat", "responses"] as const)
      for (const to of upstreams) {
        const talk = { ...talks[from], ...keyOf(from, "session 1") };
        const [auto, asked] = [true, false].map((how) => sent(from, to, talk, how));
        expect(auto!.body).toEqual(asked!.body);
        expect(auto!.notes).toEqual(asked!.notes);
        expect(markersIn(auto!.body)).toBe(3);
      }
  });
});

describe("a call that gets no marker of the operator", () => {
  const marker = { cache_control: { type: "ephemeral" } };
  const system = { role: "system", content: "Be brief." };
  const asks = { role: "user", content: "Classify this: ..." };
  const tools = [{ type: "function", function: { name: "look" } }];
  const begun = { role: "assistant", content: "It is" };
  const { messages: turns } = talks.chat;
  const cases: readonly (readonly [string, Caller, object])[] = [
    ["is the first one of chat", "chat", { messages: [system, asks], tools }],
    [
      "is the first one of responses",
      "responses",
      { instructions: "Be brief.", input: "Hi", tools: [] },
    ],
    [
      "is the first one of generate_content",
      "generate_content",
      { ...talks.generate_content, contents: talks.generate_content.contents.slice(0, 1) },
    ],
    ["is the first one, with a begun answer", "chat", { messages: [system, asks, begun], tools }],
    [
      "has two turns of the user before the first answer",
      "chat",
      { messages: [system, asks, asks, begun] },
    ],
    [
      "has markers of its caller",
      "chat",
      { messages: [{ ...system, ...marker }, ...turns.slice(1)] },
    ],
    [
      "allows no other markers",
      "responses",
      { ...talks.responses, prompt_cache_options: { mode: "explicit" } },
    ],
  ];

  it.each(cases)("CONV-418: %s", (_what, from, body) => {
    for (const to of upstreams) {
      const [auto, asked] = [true, false].map((how) => sent(from, to, body, how));
      expect(auto!.body).toEqual(asked!.body);
      expect(auto!.notes).toEqual(asked!.notes);
    }
  });
});
