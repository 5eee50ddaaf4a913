/** Members that a direct responses route adds or removes, because typed clients fail otherwise. RESP-52, RESP-53. */
import { expect, it } from "vitest";
import { GatewayError } from "../../../src/base/errors.ts";
import { formatSse } from "../../../src/base/sse.ts";
import { noUsage } from "../../../src/base/usage.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { responsesCodec } from "../../../src/protocols/responses/index.ts";
import { dataOf, framesOf, tapped } from "../chat/support.ts";

const { direct } = responsesCodec;
const sse = ([type, members]: [string, JsonObject]): string =>
  formatSse({ event: type, data: JSON.stringify({ type, sequence_number: 0, ...members }) });
const usageOf = (input: number, output: number) => ({
  input_tokens: input,
  output_tokens: output,
  total_tokens: input + output,
});
const completed = (usage: JsonObject): [string, JsonObject] => [
  "response.completed",
  { response: { id: "resp_up", status: "completed", output: [], usage } },
];

it.each<JsonObject>([
  {},
  { input_tokens_details: {}, output_tokens_details: { reasoning_tokens: null } },
])("RESP-53: has the details that Codex and typed SDKs require: %j", (details) => {
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  const body = direct.answer({ output: [], usage: { ...usage, ...details } }, "acme/talk");
  expect(body["usage"]).toEqual({
    ...usage,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  });
});

it("RESP-53: a usage without its sides counts as a false one, which is replaced as billed", () => {
  const named = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  expect(direct.misreportsUsage({ usage: named })).toBe(true);
  expect(direct.misreportsUsage({ usage: null })).toBe(false);
  expect(direct.misreportsUsage({ usage: { input_tokens: 0, output_tokens: 0 } })).toBe(false);
});

it("RESP-52: items have no status of null", () => {
  const output = [{ type: "reasoning", id: "rs_1", summary: [], status: null }];
  expect(direct.answer({ output }, "acme/talk")["output"]).toEqual([
    { type: "reasoning", id: "rs_1", summary: [] },
  ]);
});

it("RESP-53: the last event of a stream has a usage that Codex can read, whatever the vendor's has", () => {
  const billed = { ...noUsage, inputTokens: 36, outputTokens: 87 };
  const named = { prompt_tokens: 36, completion_tokens: 87 };
  for (const usage of [usageOf(36, 87), named, {}] as JsonObject[]) {
    const { tap } = tapped(direct, framesOf(sse(completed(usage))));
    expect(dataOf(tap.release(billed))[0]).toMatchObject({
      response: {
        usage: {
          ...usageOf(36, 87),
          input_tokens_details: { cached_tokens: 0 },
          output_tokens_details: { reasoning_tokens: 0 },
        },
      },
    });
  }
});

it("RESP-52: items in a stream have no status of null", () => {
  const reasoning = { type: "reasoning", id: "rs_1", summary: [] };
  const done: [string, JsonObject] = [
    "response.output_item.done",
    { output_index: 0, item: { ...reasoning, status: null, encrypted_content: null } },
  ];
  const { passed } = tapped(direct, framesOf(sse(done)));
  expect(dataOf(passed).at(-1)).toMatchObject({ sequence_number: 0, item: reasoning });
  expect(passed.at(-1)!.data).not.toContain("null");
});

it.each<[JsonObject, JsonObject]>([
  [{ type: "reasoning", id: "rs_1" }, { summary: [] }],
  [
    { type: "message", id: "msg_1", role: "assistant", status: "completed", content: null },
    { content: [] },
  ],
  [{ type: "function_call", id: "fc_1", call_id: "call_1", name: "look" }, { arguments: "" }],
])("RESP-52: items have the list or text that Codex requires: %j", (item, added) => {
  const begun: [string, JsonObject] = ["response.output_item.added", { output_index: 0, item }];
  const { passed } = tapped(direct, framesOf(sse(begun)));
  expect(dataOf(passed).at(-1)).toMatchObject({ item: { ...item, ...added } });
  const { output } = direct.answer({ output: [{ ...item }] }, "acme/talk");
  expect(output).toEqual([{ ...item, ...added }]);
});

it.each<[JsonObject, JsonObject]>([
  [{ type: "output_text" }, { text: "", annotations: [] }],
  [{ type: "output_text", text: null, annotations: [] }, { text: "" }],
  [{ type: "refusal" }, { refusal: "" }],
])("RESP-52: parts of an item have the text that Codex requires: %j", (part, added) => {
  const head = { type: "message", id: "msg_1", role: "assistant", status: "completed" };
  const item = { ...head, content: [part] };
  const whole = { ...part, ...added };
  const events: [string, JsonObject][] = [
    ["response.output_item.added", { output_index: 0, item }],
    ["response.content_part.added", { output_index: 0, content_index: 0, part }],
  ];
  const { passed } = tapped(direct, framesOf(events.map(sse).join("")));
  expect(dataOf(passed)).toMatchObject([{ item: { content: [whole] } }, { part: whole }]);
  const { output } = direct.answer({ output: [structuredClone(item)] }, "acme/talk");
  expect(output).toEqual([{ ...item, content: [whole] }]);
});

it.each(["function_call", "custom_tool_call"])(
  "RESP-52: a finished %s has the id and name that it began with",
  (type) => {
    const call = { type, id: "fc_1", call_id: "call_1", name: "look", arguments: "", input: "" };
    const event = (name: string, index: number, item: JsonObject): string =>
      sse([`response.output_item.${name}`, { output_index: index, item }]);
    const text = [
      event("added", 0, call),
      event("added", 1, { ...call, call_id: "call_2", name: "read" }),
      event("done", 1, { ...call, call_id: "", name: "" }),
      event("done", 0, { ...call, name: null, arguments: "{}" }),
      event("done", 2, { ...call, name: "" }),
    ];
    const { passed } = tapped(direct, framesOf(text.join("")));
    const named = dataOf(passed).map((data) => {
      const { item } = data as { item: JsonObject };
      return [item["call_id"], item["name"]];
    });
    expect(named.slice(2)).toEqual([
      ["call_2", "read"],
      ["call_1", "look"],
      ["call_1", ""],
    ]);
  },
);

it("RESP-52: a service tier that is not OpenAI's is the default one", () => {
  const tier = (service_tier: string) => direct.answer({ output: [], service_tier }, "a/b");
  expect(tier("on_demand")["service_tier"]).toBe("default");
  expect(tier("ultrafast")["service_tier"]).toBe("ultrafast");
});

it.each<[JsonObject, JsonObject]>([
  [
    { code: 502, message: "gone" },
    { code: "502", message: "gone" },
  ],
  [{ message: "gone" }, { code: "server_error", message: "gone" }],
  [
    { code: "server_error", message: null },
    { code: "server_error", message: "" },
  ],
  [
    { code: "quota", message: "gone", metadata: {} },
    { code: "quota", message: "gone", metadata: {} },
  ],
])(
  "RESP-51: the error of a failed response has a code and a message that are texts: %j",
  (error, told) => {
    const failed: [string, JsonObject] = [
      "response.failed",
      { response: { status: "failed", error } },
    ];
    const { tap } = tapped(direct, framesOf(sse(failed)));
    const [last] = dataOf(tap.fail(new GatewayError("upstream_error", "ours")));
    expect(last).toMatchObject({ type: "response.failed", response: { error: told } });
  },
);

it("RESP-51: settings of the text have their format, also beside another one", () => {
  const answer = direct.answer({ output: [], text: { verbosity: "low" } }, "acme/talk");
  expect(answer["text"]).toEqual({ verbosity: "low", format: { type: "text" } });
});
