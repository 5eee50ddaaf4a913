/**
 * A conversation that changes its model to one of OpenAI or Azure, on the direct route. Both refuse ids and reasoning of other vendors in
 * the history, with 400 in every later turn. Traps T21, T39.
 */
import { describe, expect, it } from "vitest";
import { vendorQuirks } from "../../src/catalog/index.ts";
import type { JsonObject } from "../../src/protocols/index.ts";
import { responsesCodec } from "../../src/protocols/responses/index.ts";
import { routeOf } from "./route.ts";
import type { Body } from "./world.ts";

type Dialect = Parameters<typeof vendorQuirks>[0]["dialect"];

const quirksOf = (dialect: Dialect, baseUrl = "https://up.example/v1") =>
  vendorQuirks({ id: "up", baseUrl, dialect });

const strict: Dialect[] = ["openai", "azure"];

interface At {
  readonly to?: "chat" | "responses";
  readonly model?: string;
  readonly baseUrl?: string;
}

describe("a session of Claude Code", () => {
  const session = "1a2b3c4d-405f-4ae8-b6ec-fa28c5b91c45";
  const userIds = [
    JSON.stringify({ device_id: "d".repeat(64), account_uuid: "", session_id: session }),
    `user_${"9".repeat(64)}_account__session_${session}`,
  ];
  const sent = (
    dialect: Dialect,
    user_id: string,
    { to = "responses", model = "gpt-5.6", baseUrl }: At = {},
  ) => {
    const messages = [{ role: "user", content: "Where?" }];
    const body = { model: "acme/x", max_tokens: 100, messages, metadata: { user_id } };
    return routeOf("messages", to, body, { ...quirksOf(dialect, baseUrl), upstreamModel: model })
      .body;
  };

  it.each(strict)("has its own key for prompt caches at %s", (dialect) => {
    for (const userId of userIds)
      for (const to of ["chat", "responses"] as const)
        expect(sent(dialect, userId, { to })).toMatchObject({ prompt_cache_key: session });
  });

  it("T31: has none at other vendors and models, which refuse it; nor has any other end user", () => {
    const [userId] = userIds as [string];
    for (const body of [
      sent("openai-compatible", userId),
      sent("azure", userId, { to: "chat", model: "mistral-large" }),
      sent("azure", userId, { to: "chat", model: "gpt-oss-120b" }),
      sent("azure", userId, { to: "chat", baseUrl: "https://r.openai.azure.com/openai" }),
      sent("openai", "alice"),
      sent("openai", "{broken"),
      sent("openai", JSON.stringify({ session_id: "s".repeat(65) })),
    ])
      expect(body).not.toHaveProperty("prompt_cache_key");
  });
});

describe("a chat conversation with calls of vLLM", () => {
  // 46 characters; OpenAI takes 40.
  const [long, other] = ["a", "b"].map((letter) => `chatcmpl-tool-${letter.repeat(32)}`);
  const call = (id: unknown): Body => ({
    id,
    type: "function",
    function: { name: "look", arguments: "{}" },
  });
  const messages: Body[] = [
    { role: "user", content: "Where?" },
    { role: "assistant", content: null, tool_calls: [call(long), call(other), call("call_1")] },
    { role: "tool", tool_call_id: other, content: "there" },
    { role: "tool", tool_call_id: long, content: "here" },
    { role: "tool", tool_call_id: "call_1", content: "nowhere" },
  ];
  const at = (dialect: Dialect, said: readonly Body[] = messages) =>
    routeOf("chat", "chat", { model: "acme/x", messages: [...said] }, quirksOf(dialect));
  const idsIn = ({ body }: ReturnType<typeof at>): unknown[] =>
    (body["messages"] as Body[]).flatMap(({ tool_call_id: id, tool_calls: calls }) => [
      ...((calls as Body[] | undefined) ?? []).map((one) => one["id"]),
      ...(id === undefined ? [] : [id]),
    ]);

  it.each(strict)(
    "T21: has shorter ids at %s, in calls and results, which is reported",
    (dialect) => {
      const route = at(dialect);
      const [one, two, own, ...results] = idsIn(route) as string[];
      expect([one, two].map((id) => id!.length)).toEqual([37, 37]);
      expect(one).not.toBe(two);
      expect([own, ...results]).toEqual(["call_1", two, one, "call_1"]);
      expect(route.notes.map(({ param }) => param)).toEqual(["messages.tool_calls"]);
      expect(idsIn(at(dialect, messages.slice(0, 4)))).toEqual([one, two, own, two, one]);
    },
  );

  it("T21: keeps its ids at other vendors, and where they are short enough", () => {
    expect(at("openai-compatible").body["messages"]).toEqual(messages);
    const short = messages.slice(0, 1);
    expect(at("openai", short)).toMatchObject({ body: { messages: short }, notes: [] });
  });
});

describe("a responses conversation of another vendor", () => {
  const long = `call_${"a".repeat(80)}`;
  const call = { type: "function_call", name: "look", arguments: "{}" };
  const summary = [{ type: "summary_text", text: "Hm." }];
  const input: Body[] = [
    { role: "user", content: "Where?" },
    // Codex 0.169 omits the id.
    { type: "reasoning", summary, content: null, encrypted_content: null },
    { type: "reasoning", id: "think_1", summary },
    { type: "reasoning", id: "rs_1", summary },
    { type: "reasoning", summary: [], encrypted_content: "gAAA" },
    { type: "message", id: "chatcmpl-1", role: "assistant", content: "I look." },
    { ...call, id: "item_1", call_id: long },
    { type: "function_call_output", id: "fco_1", call_id: long, output: "there" },
    { ...call, id: "fc_1", call_id: "c2" },
    { type: "function_call_output", call_id: "c2", output: "here" },
    { id: "item_2", role: "assistant", content: "There." },
    { role: "user", content: "And now?" },
  ];
  const at = (dialect: Dialect, said: readonly Body[] = input) =>
    routeOf("responses", "responses", { model: "acme/x", input: [...said] }, quirksOf(dialect));

  it.each(strict)("T21 T39: goes to %s without what it refuses, which is reported", (dialect) => {
    const { body, notes } = at(dialect);
    const sent = body["input"] as Body[];
    const short = sent.find(({ type }) => type === "function_call")!["call_id"];
    expect(String(short)).toMatch(/^call_[0-9a-f]{32}$/);
    expect(sent).toEqual([
      input[0],
      input[3],
      input[4],
      { type: "message", role: "assistant", content: "I look." },
      { ...call, call_id: short },
      { ...input[7], call_id: short },
      ...input.slice(8, 10),
      { role: "assistant", content: "There." },
      input[11],
    ]);
    expect(notes.map(({ param }) => param)).toEqual([
      "input.reasoning",
      "input.call_id",
      "input.id",
    ]);
  });

  it("T39: goes without another vendor's reasoning under such an id too, if the caller keeps its reasoning itself", () => {
    const kept = { store: false, include: ["reasoning.encrypted_content"] };
    const body = { model: "acme/x", input: [input[3], input[4], input[0]], ...kept };
    const route = routeOf("responses", "responses", body, quirksOf("openai"));
    expect(route.body["input"]).toEqual([input[4], input[0]]);
    expect(route.notes.map(({ param }) => param)).toEqual(["input.reasoning"]);
  });

  it("RESP-52 T39: goes to OpenAI without reasoning whose id the gateway added", () => {
    const { direct } = responsesCodec;
    const output: JsonObject[] = [
      { type: "reasoning", summary },
      { type: "reasoning", summary: [], encrypted_content: "gAAA" },
      { ...call, call_id: "c1" },
    ];
    const said = direct.answer({ id: "resp_1", output }, "acme/x")["output"] as Body[];
    expect(said.every(({ id }) => typeof id === "string")).toBe(true);
    const { body } = at("openai", [...said, input[0]!]);
    expect(body["input"]).toEqual([
      { type: "reasoning", summary: [], encrypted_content: "gAAA" },
      said[2],
      input[0],
    ]);
    expect(at("openai-compatible", said).body["input"]).toEqual(said);
  });

  it.each(strict)("T39: goes to %s without open reasoning beside encrypted one", (dialect) => {
    const hidden = { type: "reasoning", summary: [], encrypted_content: "gAAA" };
    const open = { ...hidden, content: [{ type: "reasoning_text", text: "Hm." }] };
    const empty = { ...hidden, content: [] };
    const { body, notes } = at(dialect, [open, empty, input[0]!]);
    expect(body["input"]).toEqual([hidden, empty, input[0]]);
    expect(notes.map(({ param }) => param)).toEqual(["input.content"]);
    expect(at("openai-compatible", [open])).toMatchObject({ body: { input: [open] }, notes: [] });
  });

  it("T21 T39: is unchanged at other vendors, and if it is the vendor's own", () => {
    expect(at("openai-compatible").body["input"]).toEqual(input);
    const own = [input[0]!, input[3]!, input[4]!, ...input.slice(8, 10), { id: "item_3" }];
    expect(at("openai", own)).toMatchObject({ body: { input: own }, notes: [] });
  });
});

describe("a responses conversation of a reasoning model that goes on with another", () => {
  const encrypted = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" };
  const stored = { type: "reasoning", id: "rs_2", summary: [] };
  const [asked, said, again] = ["user", "assistant", "user"].map((role) => ({
    role,
    content: "Hi.",
  }));
  const input = [asked, encrypted, stored, said, again];
  const include = ["reasoning.encrypted_content", "file_search_call.results"];
  const at = (dialect: Dialect, kind: "none" | "unknown") =>
    routeOf(
      "responses",
      "responses",
      { model: "acme/x", input, include },
      {
        ...quirksOf(dialect),
        ...(kind === "none" ? { abilities: { reasoning: { kind } } } : {}),
      },
    );

  it.each(strict)("T39: goes to %s without reasoning and the wish for it", (dialect) => {
    const { body, notes } = at(dialect, "none");
    expect(body).toMatchObject({
      input: [asked, said, again],
      include: ["file_search_call.results"],
    });
    expect(notes.map(({ param }) => param)).toEqual(["include", "input.reasoning"]);
  });

  it("T39: keeps both at other vendors, and if nothing is known of the model", () => {
    for (const route of [at("openai-compatible", "none"), at("openai", "unknown")])
      expect(route).toMatchObject({ body: { input, include }, notes: [] });
  });
});

describe("a search whose kind Codex did not know", () => {
  const search = (action: Body) => ({ type: "web_search_call", status: "completed", action });
  const at = (dialect: Dialect, ...input: Body[]) =>
    routeOf("responses", "responses", { model: "acme/x", input }, quirksOf(dialect));

  it.each(strict)("T39: is an ordinary one at %s, which refuses its kind", (dialect) => {
    const known = search({ type: "open_page", url: "https://a.example" });
    const { body, notes } = at(dialect, search({ type: "other" }), known);
    expect(body["input"]).toEqual([search({ type: "search" }), known]);
    expect(notes.map(({ param }) => param)).toEqual(["input.action"]);
  });

  it("T39: is unchanged at other vendors", () => {
    const other = search({ type: "other" });
    expect(at("openai-compatible", other)).toMatchObject({ body: { input: [other] }, notes: [] });
  });
});
