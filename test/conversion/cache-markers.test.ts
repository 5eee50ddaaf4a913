/** Cache markers towards messages upstreams, on direct and converted routes. CONV-605, LIM-14. */
import { describe, expect, it } from "vitest";
import { routeOf } from "./route.ts";
import { conversions, type Body } from "./world.ts";

const world = conversions();

const text = (value: string): Body => ({ type: "text", text: value });
const marked = (index: number): Body => ({
  ...text(`part ${index}`),
  cache_control: { type: "ephemeral" },
});
const parts = (count: number): Body[] => Array.from({ length: count }, (_, index) => marked(index));
const markersIn = (sent: string): number => sent.split('"cache_control"').length - 1;

describe("cache markers", () => {
  it("CONV-605 LIM-14: are limited to four: of more, the first and the last three are sent, on the direct route too", async () => {
    for (const [count, kept] of [
      [4, ["part 0", "part 1", "part 2", "part 3"]],
      [5, ["part 0", "part 2", "part 3", "part 4"]],
      [6, ["part 0", "part 3", "part 4", "part 5"]],
    ] as const) {
      const caller = { messages: [{ role: "user", content: parts(count) }] };
      for (const from of ["messages", "chat"] as const) {
        const { status, up = {}, upText, reported } = await world.send(from, "messages", caller);
        const sent = (up["messages"] as { content: Body[] }[])[0]!.content;
        expect([status, markersIn(upText), sent.length]).toEqual([200, 4, count]);
        const withMarker = sent.filter((part) => "cache_control" in part);
        expect(withMarker.map((part) => part["text"])).toEqual(kept);
        expect(reported).toEqual(count > 4 ? ["messages.content.cache_control"] : []);
      }
    }
  });

  it("CONV-605: are counted over tools, system, messages and results, including one at the top", async () => {
    const cache = { cache_control: { type: "ephemeral" } };
    const inner = { ...text("A map:"), ...cache };
    const body = {
      tools: [{ name: "look", input_schema: { type: "object" }, ...cache }],
      system: [{ ...text("Be brief."), ...cache }],
      messages: [
        { role: "user", content: "Where?" },
        { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "look", input: {} }] },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "c1", content: [inner], ...cache }],
        },
      ],
      ...cache,
    };
    const { up, upText, reported } = await world.send("messages", "messages", body);
    expect(markersIn(upText)).toBe(4);
    expect(up).toMatchObject({
      tools: [cache],
      messages: [{}, {}, { content: [{ content: [cache], ...cache }] }],
      ...cache,
    });
    expect(up).not.toHaveProperty("system.0.cache_control");
    expect(reported).toEqual(["system.cache_control"]);
  });
});

describe("cache markers at Converse", () => {
  const hour = { cache_control: { type: "ephemeral", ttl: "1h" } };
  const short = { cache_control: { type: "ephemeral" } };
  const call = { type: "tool_use", id: "c1", name: "look", input: {} };
  const body = (inner: Body, outer: Body): Body => ({
    model: "acme/x",
    max_tokens: 100,
    tools: [{ name: "look", input_schema: { type: "object" }, ...short }],
    system: [{ ...text("Be brief."), ...hour }],
    messages: [
      { role: "user", content: [text("Where?")] },
      { role: "assistant", content: [text("I look."), call] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "c1", content: [inner], ...outer }],
      },
    ],
  });
  const sent = (model: string, inner: Body, outer: Body) =>
    routeOf("messages", "converse", body(inner, outer), { upstreamModel: model });

  it.each([
    [{ ...text("Here."), ...short }, {}],
    [text("Here."), short],
  ])("CONV-605: at Nova are not sent for tools and results, nor for an hour", (inner, outer) => {
    const { body: nova, notes } = sent("us.amazon.nova-pro-v1:0", inner, outer);
    expect(nova["system"]).toEqual([{ text: "Be brief." }, { cachePoint: { type: "default" } }]);
    expect(JSON.stringify(nova).match(/cachePoint/g)).toHaveLength(1);
    expect(notes.map(({ param, kind }) => `${param} ${kind}`)).toEqual([
      "tools.cache_control dropped",
      "system.cache_control rewritten",
      "messages.content.cache_control dropped",
    ]);
  });

  it("CONV-605: at Claude are not sent right after a document that is no PDF, which the vendor refuses", () => {
    const pdf = { type: "base64", media_type: "application/pdf", data: "JVBERi0=" };
    const plain = { type: "text", media_type: "text/plain", data: "1,2" };
    const { body: claude, notes } = routeOf(
      "messages",
      "converse",
      {
        model: "acme/x",
        max_tokens: 100,
        messages: [plain, pdf].flatMap((source) => [
          { role: "user", content: [text("Read:"), { type: "document", source, ...short }] },
          { role: "assistant", content: "Done." },
        ]),
      },
      { upstreamModel: "us.anthropic.claude-opus-4-6-v1" },
    );
    const point = { cachePoint: { type: "default" } };
    expect(claude["messages"]).toMatchObject([
      { content: [{ text: "Read:" }, { document: { format: "txt" } }] },
      {},
      { content: [{ text: "Read:" }, { document: { format: "pdf" } }, point] },
      {},
    ]);
    expect(notes).toMatchObject([{ param: "messages.content.cache_control", kind: "dropped" }]);
  });

  it("CONV-605: at Claude are sent for them", () => {
    const claude = sent("us.anthropic.claude-opus-4-6-v1", text("Here."), short);
    expect(JSON.stringify(claude.body).match(/cachePoint/g)).toHaveLength(3);
    expect(claude.body["system"]).toContainEqual({ cachePoint: { type: "default", ttl: "1h" } });
    expect(claude.notes).toEqual([]);
  });
});

describe("cache markers of chat callers", () => {
  const mark = { cache_control: { type: "ephemeral" } };
  const call = { id: "c1", type: "function", function: { name: "look", arguments: "{}" } };
  /** The markers as the AI SDK's `openai-compatible` provider writes them for opencode, and LiteLLM's SDK for OpenHands. */
  const body: Body = {
    model: "acme/x",
    messages: [
      { role: "system", content: "Be brief.", ...mark },
      { role: "user", content: "Where?", ...mark },
      { role: "assistant", content: "I look.", tool_calls: [{ ...call, ...mark }] },
      { role: "tool", tool_call_id: "c1", content: "Here.", ...mark },
    ],
    tools: [{ type: "function", function: { name: "look" }, ...mark }],
  };
  const places = ["messages.cache_control", "messages.tool_calls.cache_control"];

  it("CONV-605: on messages, calls and tools reach Claude: without them it caches nothing", () => {
    const { messages, ...others } = body;
    const [system, user, answer, result] = messages as Body[];
    const sent = (turns: readonly unknown[], more: Body = {}) =>
      routeOf(
        "chat",
        "messages",
        { ...others, messages: turns, ...more },
        { upstreamModel: "claude" },
      );
    expect(sent([system, user, answer, result], { tools: undefined }).body).toMatchObject({
      system: [{ text: "Be brief.", ...mark }],
      messages: [
        { content: [{ text: "Where?", ...mark }] },
        { content: [{ text: "I look." }, { type: "tool_use", ...mark }] },
        { content: [{ type: "tool_result", ...mark }] },
      ],
    });
    const { body: withTools, notes } = sent([user]);
    expect(withTools).toMatchObject({ tools: [mark], messages: [{ content: [mark] }] });
    expect(notes).toEqual([]);
    const hour = { cache_control: { type: "ephemeral", ttl: "1h" } };
    const ofMessage = { role: "assistant", content: null, tool_calls: [call], ...hour };
    expect(sent([user, ofMessage, result]).body["messages"]).toMatchObject([
      {},
      { content: [{ type: "tool_use", ...hour }] },
      {},
    ]);
  });

  it("CONV-217: are reported under their own names where caching is automatic", () => {
    const { body: sent, notes } = routeOf("chat", "generate_content", body);
    expect(markersIn(JSON.stringify(sent))).toBe(0);
    expect(notes.map(({ param }) => param)).toEqual([...places, "tools.cache_control"]);
  });

  it("are reported if they are of another kind, or no part can have them", () => {
    const turns = [
      { role: "user", content: "Where?", cache_control: { type: "forever" } },
      { role: "assistant", content: "", ...mark },
      { role: "user", content: "Well?" },
    ];
    const { notes } = routeOf("chat", "messages", { model: "acme/x", messages: turns });
    expect(notes).toMatchObject([{ param: "messages.cache_control", kind: "dropped" }]);
  });
});
