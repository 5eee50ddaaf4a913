import { describe, expect, it } from "vitest";
import { noteParams } from "../../../src/base/notes.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { withDropped } from "../../../src/protocols/dropped-params.ts";
import { responsesCodec } from "../../../src/protocols/responses/index.ts";
import { faultOf } from "../chat/support.ts";

const { direct } = responsesCodec;
const minimal: JsonObject = { model: "acme/talk", input: "hi" };
const fault = (extra: JsonObject): string =>
  faultOf(() => direct.validate({ ...minimal, ...extra }));
/** A cache breakpoint with a time to live. */
const mark = (ttl: string): JsonObject => ({
  type: "computer_screenshot",
  prompt_cache_breakpoint: { mode: "explicit", ttl },
});
const marked = (ttl: string): JsonObject => ({
  role: "user",
  content: [{ ...mark(ttl), type: "input_text", text: "Hi" }],
});
const itemFault = (item: JsonObject | number): string => fault({ input: [item] });

describe("the validation of a responses body", () => {
  it("RESP-02 RESP-06: requires model and input", () => {
    expect(faultOf(() => direct.validate({ input: "hi" }))).toBe(
      "missing_required_parameter model",
    );
    expect(faultOf(() => direct.validate({ model: "a" }))).toBe("missing_required_parameter input");
  });

  it.each<[JsonObject | number, string]>([
    [{ role: "user", content: "hi" }, "none"],
    [{ type: "message", role: "developer", content: [{ type: "input_text", text: "x" }] }, "none"],
    [{ type: "function_call", call_id: "c", name: "f", arguments: "{}" }, "none"],
    [
      { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "x" }] },
      "none",
    ],
    [{ type: "reasoning", summary: [], encrypted_content: "zzz" }, "none"],
    [{ type: "item_of_tomorrow", x: 1 }, "none"],
    [{ id: "msg_1" }, "none"],
    [7, "invalid_type input[0]"],
    [{ content: "hi" }, "missing_required_parameter input[0].role"],
    [{ role: "tool", content: "hi" }, "invalid_value input[0].role"],
    [{ role: "user" }, "missing_required_parameter input[0].content"],
    [{ role: "user", content: 7 }, "invalid_type input[0].content"],
    [
      { role: "user", content: [{ type: "input_text" }] },
      "missing_required_parameter input[0].content[0].text",
    ],
    [
      { type: "function_call", name: "f", arguments: "" },
      "missing_required_parameter input[0].call_id",
    ],
    [
      { type: "function_call", call_id: "c", name: "f", arguments: {} },
      "invalid_type input[0].arguments",
    ],
    [{ type: "function_call_output", call_id: "c" }, "missing_required_parameter input[0].output"],
  ])("RESP-08: checks the item %j: %s", (item, expected) => {
    expect(itemFault(item)).toBe(expected);
  });

  it.each<[string, JsonObject, string]>([
    ["RESP-10", { max_output_tokens: "x" }, "invalid_type max_output_tokens"],
    ["RESP-10", { max_output_tokens: 16.5 }, "invalid_type max_output_tokens"],
    ["RESP-10", { max_output_tokens: 16 }, "none"],
    ["RESP-11", { temperature: 0 }, "none"],
    ["RESP-11", { temperature: 2 }, "none"],
    ["RESP-11", { temperature: 2.1 }, "integer_above_max_value temperature"],
    ["RESP-11", { temperature: -0.1 }, "integer_below_min_value temperature"],
    ["RESP-12", { top_p: 0.9 }, "none"],
    ["RESP-12", { top_p: "x" }, "invalid_type top_p"],
    ["RESP-13", { stream: "x" }, "invalid_type stream"],
    [
      "RESP-14",
      { tools: [{ type: "function", name: "f", description: "d", parameters: {} }] },
      "none",
    ],
    ["RESP-14", { tools: [{ type: "function" }] }, "missing_required_parameter tools[0].name"],
    ["RESP-15", { tool_choice: "auto" }, "none"],
    ["RESP-15", { tool_choice: "none" }, "none"],
    ["RESP-15", { tool_choice: "required" }, "none"],
    ["RESP-15", { tool_choice: { type: "function", name: "f" } }, "none"],
    ["RESP-15", { tool_choice: "sometimes" }, "invalid_value tool_choice"],
    ["RESP-18", { text: { verbosity: "low" } }, "none"],
    ["RESP-18", { text: { verbosity: "medium" } }, "none"],
    ["RESP-18", { text: { verbosity: "high" } }, "none"],
    ["RESP-18", { text: { verbosity: "loud" } }, "invalid_value text.verbosity"],
    ["RESP-24", { reasoning: { effort: "ultra", mode: "x", context: "z" } }, "none"],
    ["RESP-32", { truncation: "auto" }, "none"],
    ["RESP-32", { truncation: "disabled" }, "none"],
    ["RESP-32", { truncation: "some" }, "invalid_value truncation"],
    ["RESP-42", { top_logprobs: 0 }, "none"],
    ["RESP-42", { top_logprobs: 20 }, "none"],
    ["RESP-42", { top_logprobs: 21 }, "integer_above_max_value top_logprobs"],
    ["RESP-46", { prompt_cache_options: { ttl: "30m" } }, "none"],
    ["RESP-46", { prompt_cache_options: { ttl: "1h" } }, "invalid_value prompt_cache_options.ttl"],
    ["LIM-16", { input: [marked("30m")] }, "none"],
    [
      "LIM-16",
      { input: [marked("12h")] },
      "invalid_value input[0].content[0].prompt_cache_breakpoint.ttl",
    ],
    [
      "LIM-16",
      { input: [{ type: "computer_call_output", call_id: "c", output: mark("12h") }] },
      "invalid_value input[0].output.prompt_cache_breakpoint.ttl",
    ],
    ["RESP-47", { prompt_cache_options: { mode: "implicit" } }, "none"],
    ["RESP-47", { prompt_cache_options: { mode: "explicit" } }, "none"],
    [
      "RESP-47",
      { prompt_cache_options: { mode: "magic" } },
      "invalid_value prompt_cache_options.mode",
    ],
    ["RESP-50", { moderation: { model: "m", policy: {} } }, "none"],
    ["RESP-50", { moderation: "auto" }, "invalid_type moderation"],
  ])("%s: checks %j: %s", (_id, extra, expected) => {
    expect(fault(extra)).toBe(expected);
  });

  it("RESP-40: accepts any service tier, because it is never forwarded", () => {
    const tiers = ["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"];
    expect(tiers.map((tier) => fault({ service_tier: tier }))).toEqual(tiers.map(() => "none"));
  });
});

const upstream = { model: "talk-large", stream: false };

describe("the request of a direct responses route", () => {
  it("TXT-07 RESP-28 RESP-30 RESP-33 RESP-34 RESP-43 RESP-44: is what the caller sent, except for the model", () => {
    const body: JsonObject = {
      ...minimal,
      input: [
        { role: "user", content: "hi" },
        { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "zzz" },
        { type: "apply_patch_call", call_id: "c", operation: {} },
      ],
      include: ["reasoning.encrypted_content"],
      background: false,
      context_management: [{ type: "compaction", compact_threshold: 9 }],
      conversation: "conv_1",
      prompt: { id: "pmpt_1" },
      truncation: "auto",
      metadata: { a: "b" },
      store: false,
      user: "u1",
      prompt_cache_key: "k",
      top_logprobs: 3,
      max_tool_calls: 4,
      safety_identifier: "s",
      moderation: { model: "m" },
      reasoning: { effort: "ultra", summary: "auto", mode: "pro", context: "all_turns" },
      text: { format: { type: "text" }, verbosity: "low" },
      tools: [{ type: "namespace", name: "n", tools: [] }],
      parallel_tool_calls: false,
      client_metadata: { x: [null] },
    };
    const before = structuredClone(body);
    const { body: sent, notes } = direct.request(body, upstream);
    expect(sent).toEqual({ ...body, model: "talk-large" });
    expect(Object.keys(sent)).toEqual(Object.keys(body));
    expect(notes).toEqual([]);
    expect(body).toEqual(before);
  });

  it("TXT-17 RESP-40 RESP-41: loses service_tier, which is reported", () => {
    const { body, notes } = direct.request({ ...minimal, service_tier: "flex" }, upstream);
    expect(body).toEqual({ model: "talk-large", input: "hi" });
    expect(noteParams(notes)).toEqual(["service_tier"]);
  });

  it("RESP-29: loses previous_response_id, which is reported; null is ignored", () => {
    const { body, notes } = direct.request(
      { ...minimal, previous_response_id: "resp_1" },
      upstream,
    );
    expect(body).not.toHaveProperty("previous_response_id");
    expect(notes).toEqual([
      { param: "previous_response_id", kind: "dropped", detail: "no state is kept, dropped" },
    ]);
    expect(direct.request({ ...minimal, previous_response_id: null }, upstream).notes).toEqual([]);
  });

  it("RESP-16: has parallel_tool_calls only with tools", () => {
    const tools = [{ type: "function", name: "f" }];
    const sent = (extra: JsonObject) => direct.request({ ...minimal, ...extra }, upstream);
    expect(sent({ parallel_tool_calls: true, tools }).body).toMatchObject({
      parallel_tool_calls: true,
    });
    const without = sent({ parallel_tool_calls: true });
    expect(without.body).not.toHaveProperty("parallel_tool_calls");
    expect(noteParams(without.notes)).toEqual(["parallel_tool_calls"]);
  });

  it("RESP-39: keeps one member of stream_options, and loses the others", () => {
    const sent = (options: JsonObject) =>
      direct.request(
        { ...minimal, stream: true, stream_options: options },
        { ...upstream, stream: true },
      );
    const both = sent({ include_obfuscation: false, include_usage: true });
    expect(both.body["stream_options"]).toEqual({ include_obfuscation: false });
    expect(noteParams(both.notes)).toEqual(["stream_options.include_usage"]);
    expect(sent({ include_usage: true }).body).not.toHaveProperty("stream_options");
    expect(sent({ include_obfuscation: true }).notes).toEqual([]);
  });

  describe("RESP-27: reasoning items made by the gateway", () => {
    const made: JsonObject = { type: "reasoning", id: "rs_req_01abc_0", summary: [] };
    const said: JsonObject = { role: "user", content: "hi" };
    const sent = (item: JsonObject) => {
      const input = [said, item, item, said];
      return { input, ...direct.request({ ...minimal, input }, upstream) };
    };

    it.each<[string, JsonObject]>([
      ["without encrypted_content", made],
      ["with none as null", { ...made, encrypted_content: null }],
    ])("are removed and reported once %s", (_, item) => {
      const { input, body, notes } = sent(item);
      expect(body["input"]).toEqual([said, said]);
      expect(noteParams(notes)).toEqual(["input.reasoning"]);
      expect(notes.map(({ kind }) => kind)).toEqual(["dropped"]);
      expect(input).toHaveLength(4);
    });

    it.each<[string, JsonObject]>([
      ["with encrypted_content", { ...made, encrypted_content: "zzz" }],
      ["with a vendor's id", { ...made, id: "rs_0183" }],
      ["without an id", { type: "reasoning", summary: [] }],
      ["of another kind", { type: "function_call", id: "rs_req_1", call_id: "c", name: "f" }],
    ])("do not include items %s: these stay, and nothing is copied", (_, item) => {
      const { input, body, notes } = sent(item);
      expect(body["input"]).toBe(input);
      expect(notes).toEqual([]);
    });
  });

  it("RESP-20: gets no added fields", () => {
    expect(direct.request(minimal, upstream).body).toEqual({ model: "talk-large", input: "hi" });
  });
});

describe("the facts of a responses request", () => {
  it("count text and media, and no encrypted content", () => {
    const facts = direct.facts({
      ...minimal,
      max_output_tokens: 9,
      instructions: "12345",
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "123" },
            { type: "input_image", image_url: "data:image/png;base64,AAAA" },
          ],
        },
        { type: "reasoning", summary: [], encrypted_content: "z".repeat(1000) },
        { type: "function_call_output", call_id: "", output: "12" },
      ],
    });
    expect(facts).toMatchObject({ maxOutputTokens: 9, answers: 1, inputMedia: 1 });
    expect(facts.inputCharacters).toBe("12345".length + "user".length + "123".length + "12".length);
  });

  it("use the prompt cache key before the user, and never safety_identifier", () => {
    const session = (extra: JsonObject) => direct.facts({ ...minimal, ...extra }).session;
    expect(session({ user: "u", prompt_cache_key: "k" })).toBe("k");
    expect(session({ user: "u", prompt_cache_key: "" })).toBe("u");
    expect(session({ safety_identifier: "s" })).toBeUndefined();
  });
});

describe("a whole responses answer on a direct route", () => {
  const answer = (): JsonObject => ({
    id: "resp_1",
    object: "response",
    created_at: 5,
    status: "completed",
    model: "up-2026",
    temperature: null,
    output: [
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: null },
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "Hi", annotations: [] }],
      },
    ],
    usage: {
      input_tokens: 36,
      input_tokens_details: { cached_tokens: 30 },
      output_tokens: 87,
      output_tokens_details: { reasoning_tokens: 80 },
      total_tokens: 123,
    },
  });

  it("TXT-10 TXT-11 TXT-14: has the canonical model, and gw.droppedParams if something was dropped", () => {
    expect(withDropped(direct.answer(answer(), "acme/talk"), ["service_tier"])).toMatchObject({
      id: "resp_1",
      model: "acme/talk",
      status: "completed",
      output: [{ type: "reasoning" }, { type: "message", content: [{ text: "Hi" }] }],
      gw: { droppedParams: ["service_tier"] },
    });
    expect(direct.answer(answer(), "acme/talk")).not.toHaveProperty("gw");
  });

  it("CONV-802 CONV-806 CONV-810 CONV-814 T46: has usage with details; T61: 0 counts as reported", () => {
    expect(direct.usage(answer())).toEqual({
      inputTokens: 36,
      cacheReadTokens: 30,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      outputTokens: 87,
      reasoningTokens: 80,
    });
    expect(direct.usage({ usage: { input_tokens: 0, output_tokens: 0 } })).toMatchObject({
      inputTokens: 0,
      outputTokens: 0,
    });
    expect(direct.usage({ usage: null })).toBeUndefined();
    expect(direct.usage({ usage: { input_tokens: 5 } })).toBeUndefined();
  });

  it("T50: counts tokens that only the total includes, also in the caller's usage", () => {
    const usage = {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 7 },
      total_tokens: 22,
    };
    const billed = { inputTokens: 10, outputTokens: 12, reasoningTokens: 7 };
    expect(direct.usage({ usage })).toMatchObject(billed);
    const body = direct.answer({ output: [], usage: { ...usage } }, "acme/talk");
    expect(body["usage"]).toMatchObject({ input_tokens: 10, output_tokens: 12, total_tokens: 22 });
    expect(direct.usage(body)).toMatchObject(billed);
  });

  it("T15: is complete when taken from a stream's last event, with hosted tools and citations", () => {
    const output = [
      { type: "web_search_call", id: "ws_1", status: "completed" },
      {
        type: "message",
        id: "msg_1",
        content: [{ type: "output_text", text: "Hi", annotations: [{ type: "url_citation" }] }],
      },
      { type: "custom_tool_call", call_id: "c", name: "patch", input: "*** Begin" },
    ];
    const response = { id: "resp_1", status: "completed", output };
    const frame = (type: string, members: object) => ({
      data: JSON.stringify({ type: `response.${type}`, ...members }),
    });
    const items = output.map((item, output_index) =>
      frame("output_item.done", { output_index, item }),
    );
    const ended = (own: object) => frame("completed", { response: { ...response, ...own } });
    // Codex's own service leaves the items out at the end. If only searches are missing there, they are billed too.
    for (const told of [output, [], output.slice(1)])
      expect(direct.answerFromFrames([...items, ended({ output: told })])).toEqual(response);
    expect(direct.answerFromFrames(items)).toBeUndefined();
    expect(direct.answerFromFrames([ended({ output: [] })])).toBeUndefined();
    const failed = frame("failed", { response: { ...response, status: "failed" } });
    expect(direct.answerFromFrames([...items, failed])).toBeUndefined();
  });

  it("has the text of all items", () => {
    const output = [
      { type: "reasoning", summary: [{ type: "summary_text", text: "a" }] },
      {
        type: "message",
        content: [
          { type: "output_text", text: "b" },
          { type: "refusal", refusal: "c" },
        ],
      },
      { type: "function_call", name: "d", arguments: "e" },
    ] as JsonObject[];
    expect(direct.text({ output })).toBe("abcde");
  });
});

describe("an error of a responses upstream", () => {
  it("is read from a failed response object", () => {
    const failed = {
      response: { status: "failed", error: { code: "server_error", message: "fell over" } },
    };
    expect(responsesCodec.decodeError(200, failed)).toMatchObject({
      code: "server_error",
      message: "fell over",
    });
    expect(responsesCodec.decodeError(500, "oops")).toEqual({ message: "oops" });
  });
});
