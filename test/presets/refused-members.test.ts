/**
 * Vendors that refuse what other vendors require: earlier reasoning, as a member of a chat message. Groq and Cerebras answer
 * 400 to `reasoning_content`, Mistral 422. They refuse some parameters of OpenAI's too. Traps T31, T39, T41.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSandbox, type Sandbox } from "../../sandbox/index.ts";
import { environmentCatalog, refusedParameters, vendorQuirks } from "../../src/catalog/index.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

type Body = Record<string, unknown>;

const thought = "The shelf first.";
const question = "Where is it?";
const next = "And now?";

describe("a conversation with reasoning in it", () => {
  let upstream: Sandbox;
  let gateway: GatewayUnderTest;
  beforeAll(async () => {
    upstream = await startSandbox({ host: "127.0.0.1", port: 0 });
    gateway = await startTestGateway({
      sandbox: "off",
      environment: Object.fromEntries(
        ["GROQ", "DEEPSEEK", "MISTRAL", "FIREWORKS", "CEREBRAS"].flatMap((name) => [
          [`${name}_API_KEY`, "sandbox"],
          [`${name}_BASE_URL`, `${upstream.url}/openai/v1`],
        ]),
      ),
    });
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  /** The messages that a vendor's upstream received, and the reports to the caller. */
  async function sent(vendor: string, path: string, conversation: Body) {
    const { models } = gateway.catalog();
    const model = [...models.values()].find(
      (one) => one.kind === "text" && one.offers.some(({ provider }) => provider === vendor),
    )!.id;
    const marked = { max_tokens: 1000, ...conversation, model };
    const answer = await gateway.post(path, marked);
    expect(answer.status).toBe(200);
    const { gw } = (await answer.json()) as { gw?: { droppedParams: string[] } };
    const journal = await fetch(`${upstream.url}/__journal?contains=${encodeURIComponent(next)}`);
    const { data } = (await journal.json()) as { data: { body: Body & { messages: Body[] } }[] };
    const { body } = data.at(-1)!;
    return { messages: body.messages, body, reported: gw?.droppedParams ?? [] };
  }

  const messages = {
    messages: [
      { role: "user", content: question },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: thought, signature: "gw_unsigned" },
          { type: "text", text: "There." },
        ],
      },
      { role: "user", content: next },
    ],
  };
  const chat = {
    messages: [
      { role: "user", content: question },
      { role: "assistant", content: "There.", reasoning_content: thought },
      { role: "user", content: next },
    ],
  };

  it("T39: is sent to Groq without reasoning, converted and direct, and the loss is reported", async () => {
    const turn = { role: "assistant", content: "There." };
    const converted = await sent("groq", "/v1/messages", messages);
    expect(converted.messages[1]).toEqual(turn);
    expect(converted.reported).toEqual(["messages.content.thinking"]);
    const direct = await sent("groq", "/v1/chat/completions", chat);
    expect(direct.messages[1]).toEqual(turn);
    expect(direct.reported).toEqual(["messages.reasoning_content"]);
  });

  // Codex sends these in every request.
  const codex = {
    input: next,
    store: false,
    prompt_cache_key: "session-1",
    text: { verbosity: "low" },
    max_tokens: undefined,
  };

  it.each([
    ["groq", { store: false }, ["prompt_cache_key", "text.verbosity"]],
    ["mistral", { prompt_cache_key: "session-1" }, ["store", "text.verbosity"]],
    ["deepseek", { store: false, prompt_cache_key: "session-1", verbosity: "low" }, []],
  ])(
    "T31: is sent to %s without parameters that it refuses, and the loss is reported",
    async (vendor, kept, lost) => {
      const { body, reported } = await sent(vendor, "/v1/responses", codex);
      const { store, prompt_cache_key, verbosity } = body;
      expect({ store, prompt_cache_key, verbosity }).toEqual({ ...kept });
      expect(reported.toSorted()).toEqual(lost);
    },
  );

  it.each([
    ["mistral", { max_completion_tokens: 50 }, { max_tokens: 50 }],
    ["mistral", { max_completion_tokens: 50, max_tokens: 70 }, { max_tokens: 50 }],
    ["mistral", { max_completion_tokens: null, max_tokens: 70 }, { max_tokens: 70 }],
    ["groq", { max_completion_tokens: 50 }, { max_completion_tokens: 50 }],
    ["deepseek", { max_completion_tokens: 50 }, { max_tokens: 50 }],
  ])("T30: %s gets the limit of %j as its own parameter", async (vendor, given, gets) => {
    const { body, reported } = await sent(vendor, "/v1/chat/completions", {
      ...chat,
      max_tokens: undefined,
      ...given,
    });
    const { max_tokens, max_completion_tokens } = body;
    expect({ max_tokens, max_completion_tokens }).toEqual(gets);
    expect(reported).toEqual(vendor === "deepseek" ? [] : ["messages.reasoning_content"]);
  });

  const called = {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "callabcd1", type: "function", function: { name: "look", arguments: "{}" } },
    ],
  };
  const result = { role: "tool", tool_call_id: "callabcd1", name: "look", content: "There." };

  it.each(["groq", "mistral", "fireworks-ai", "cerebras"])(
    "T31: reaches %s without the empty members that OpenAI's SDK for Python writes into an answer",
    async (vendor) => {
      const empty = { refusal: null, annotations: null, audio: null, function_call: null };
      const { messages: got, reported } = await sent(vendor, "/v1/chat/completions", {
        messages: [
          { role: "user", content: question, tool_calls: null },
          { ...called, ...empty },
          result,
          { role: "assistant", content: "There.", refusal: null, annotations: [] },
          { role: "user", content: next },
        ],
      });
      // Models of DeepSeek and others require reasoning.
      for (const turn of got) delete turn["reasoning_content"];
      expect(got.slice(0, 4)).toEqual([
        { role: "user", content: question },
        called,
        result,
        { role: "assistant", content: "There." },
      ]);
      expect(reported).toEqual([]);
    },
  );

  it.each(["/v1/chat/completions", "/v1/responses"])(
    "T31: reaches Groq with an earlier refusal as text, and no citations (%s)",
    async (path) => {
      const refused = "I cannot.";
      const chatTurns = [
        { role: "user", content: question },
        { role: "assistant", content: null, refusal: refused },
        { role: "user", content: "Why?" },
        { role: "assistant", content: "So.", annotations: [{ type: "url_citation" }] },
        { role: "user", content: next },
      ];
      const items = [
        { role: "user", content: question },
        { role: "assistant", content: [{ type: "refusal", refusal: refused }] },
        { role: "user", content: next },
      ];
      const isChat = path !== "/v1/responses";
      const asked = isChat ? { messages: chatTurns } : { input: items, max_tokens: undefined };
      const { messages: got, reported } = await sent("groq", path, asked);
      const answers = got.filter(({ role }) => role === "assistant");
      expect(answers).toEqual([
        { role: "assistant", content: refused },
        ...(isChat ? [{ role: "assistant", content: "So." }] : []),
      ]);
      expect(reported).toEqual(isChat ? ["messages.refusal", "messages.annotations"] : []);
    },
  );

  it("T31: reaches Mistral without names of participants, and the loss is reported", async () => {
    const turn = { role: "user", content: next };
    const named = { messages: [{ ...turn, name: "Planner" }] };
    const direct = await sent("mistral", "/v1/chat/completions", named);
    expect(direct).toMatchObject({ messages: [turn], reported: ["messages.name"] });
    expect(direct.messages[0]).toEqual(turn);
    const groq = await sent("groq", "/v1/chat/completions", named);
    expect(groq).toMatchObject({ messages: [{ name: "Planner" }], reported: [] });
  });

  it("T41: is sent with reasoning to a vendor that requires it", async () => {
    const turn = { role: "assistant", content: "There.", reasoning_content: thought };
    const converted = await sent("deepseek", "/v1/messages", messages);
    expect(converted).toMatchObject({ messages: [{}, turn, {}], reported: [] });
    const direct = await sent("deepseek", "/v1/chat/completions", chat);
    expect(direct).toMatchObject({ messages: [{}, turn, {}], reported: [] });
  });
});

describe("the parameters and members that a provider refuses", () => {
  const dialect = "openai-compatible" as const;
  const proxy = "https://proxy.example.com/v1";

  it.each([
    ["by its address", { id: "fast", baseUrl: "https://api.groq.com/openai/v1", dialect }, true],
    ["by its name", { id: "groq", baseUrl: proxy, dialect }, true],
    ["is nothing elsewhere", { id: "openai", baseUrl: proxy, dialect }, false],
  ])("T31: are parameters known %s", (_how, provider, refuses) => {
    const groq = { chat: { prompt_cache_key: false, verbosity: false } };
    expect(refusedParameters(provider)).toEqual(refuses ? groq : {});
  });

  it("T31: include names unknown to Google's chat", () => {
    const baseUrl = "https://generativelanguage.googleapis.com/v1beta/openai";
    const { chat = {}, ...others } = refusedParameters({ id: "gemini", baseUrl, dialect });
    expect(chat).toMatchObject({ store: false, prompt_cache_key: false, seed: false });
    expect([Object.keys(chat).includes("stop"), others]).toEqual([false, {}]);
  });

  it.each([
    ["nvidia", ["prompt_cache_key", "store", "verbosity"]],
    ["cerebras", ["store", "verbosity", "prompt_cache_key"]],
    ["baseten", ["prompt_cache_key"]],
  ])("T31: include what %s refuses of Codex", (id, names) => {
    const refused = refusedParameters({ id, baseUrl: proxy, dialect });
    expect(Object.keys(refused.chat ?? {})).toEqual(names);
  });

  it.each([
    ["deepseek", "max_tokens"],
    ["zai", "max_tokens"],
    ["zhipuai", "max_tokens"],
    ["nvidia", "max_tokens"],
    ["togetherai", "max_tokens"],
    ["chutes", "max_tokens"],
    ["mistral", "max_tokens"],
    ["snowflake-cortex", "max_completion_tokens"],
    ["groq", undefined],
  ])("T30: %s reads only %s", (id, name) => {
    expect(vendorQuirks({ id, baseUrl: proxy, dialect }).onlyMaximumField).toBe(name);
  });

  it.each([
    ["cloudflare-workers-ai", true, false],
    ["lmstudio", false, true],
    ["vllm", false, false],
  ])("%s: refuses null as content: %s, a tool by name: %s", (id, noNull, noName) => {
    const { refusesNullContent, refusesNamed } = vendorQuirks({ id, baseUrl: proxy, dialect });
    expect([refusesNullContent, refusesNamed]).toEqual([noNull, noName]);
  });

  it.each([
    ["MOONSHOT_API_KEY", "moonshotai/kimi-k2.6", ["temperature", "top_p"]],
    ["MOONSHOT_API_KEY", "moonshotai/kimi-k2.7-code", ["temperature", "presence_penalty"]],
    ["CEREBRAS_API_KEY", "cerebras/gpt-oss-120b", ["parallel_tool_calls"]],
  ])("T31: include with %s those of %s: %j", (variable, id, names) => {
    const model = environmentCatalog({ [variable]: "key" }).models.get(id);
    const refused = Object.fromEntries(names.map((name) => [name, false]));
    expect(model).toMatchObject({ parameters: refused });
  });

  it("T31: include parameters by dialect", () => {
    const vertex = { id: "any", baseUrl: proxy, dialect: "vertex" } as const;
    expect(refusedParameters(vertex)).toEqual({ generate_content: { store: false } });
  });

  it.each([
    ["by its name", { id: "cerebras", baseUrl: "https://proxy.example.com/v1" }, true],
    ["of Databricks", { id: "databricks", baseUrl: "https://proxy.example.com/v1" }, true],
    ["by its address", { id: "fast", baseUrl: "https://api.groq.com/openai/v1" }, true],
    ["is nothing elsewhere", { id: "local", baseUrl: "http://127.0.0.1:8000/v1" }, false],
  ])("are members known %s", (_how, provider, refuses) => {
    const { refusedMembers } = vendorQuirks({ ...provider, dialect });
    expect(refusedMembers.includes("reasoning_content")).toBe(refuses);
  });
});
