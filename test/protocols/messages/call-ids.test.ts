/** A conversation with another vendor's calls continues at Claude, on the direct route. Trap T21. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { messagesCodec } from "../../../src/protocols/messages/index.ts";
import { tokenCounting } from "../../../src/protocols/index.ts";

const { direct } = messagesCodec;
const claude = { model: "anthropic.claude-opus-5-v1:0", stream: false };

const call = (id: string, name = "look"): JsonObject => ({ type: "tool_use", id, name, input: {} });
const result = (id: string, content = ""): JsonObject => ({
  type: "tool_result",
  tool_use_id: id,
  content,
});
const request = (...turns: JsonObject[][]): JsonObject => ({
  model: "acme/talk",
  max_tokens: 100,
  messages: [
    { role: "user", content: "Where is it?" },
    ...turns.map((content, at) => ({ role: at % 2 === 0 ? "assistant" : "user", content })),
  ],
});

describe("the ids of calls sent to Claude", () => {
  it("T21: are replaced in calls and results if they are illegal or repeated, which is reported", () => {
    const body = request(
      [{ type: "text", text: "I look." }, call("functions.look:0"), call("functions.look:1")],
      [result("functions.look:1", "b"), result("functions.look:0", "a")],
      [call("functions.look:0"), call("call_0"), call("call_0")],
      [result("functions.look:0", "c"), result("call_0", "d"), result("call_0", "e")],
    );
    const before = structuredClone(body);
    const { body: sent, notes } = direct.request(body, claude);
    expect(sent["messages"]).toEqual(
      request(
        [{ type: "text", text: "I look." }, call("functions_look_0"), call("functions_look_1")],
        [result("functions_look_1", "b"), result("functions_look_0", "a")],
        [call("functions_look_0_2"), call("call_0"), call("call_0_2")],
        [result("functions_look_0_2", "c"), result("call_0", "d"), result("call_0_2", "e")],
      )["messages"],
    );
    expect(notes).toEqual([
      {
        param: "messages.content.tool_use",
        kind: "rewritten",
        detail: expect.stringContaining("ids of calls") as string,
      },
    ]);
    expect(body).toEqual(before);
  });

  it("T21: stay the same in every turn of a conversation", () => {
    const first = request([call("f:0")], [result("f:0")]);
    const later = request([call("f:0")], [result("f:0")], [call("f_0"), call("f:0")]);
    const sent = (body: JsonObject) => direct.request(body, claude).body["messages"] as unknown[];
    expect(sent(later).slice(0, 3)).toEqual(sent(first));
    expect(sent(later)[3]).toEqual({ role: "assistant", content: [call("f_0_2"), call("f_0_3")] });
  });

  it.each([
    ["another vendor of the protocol gets its own ids back", "kimi-k3", "functions.look:0"],
    ["legal ids reach Claude as they came", claude.model, "toolu_01"],
  ])("TXT-07: are unchanged: %s", (_what, model, id) => {
    const body = request([call(id)], [result(id)]);
    const { body: sent, notes } = direct.request(body, { ...claude, model });
    expect(sent["messages"]).toBe(body["messages"]);
    expect(notes).toEqual([]);
  });

  it("T52: are replaced in a token-count request too", () => {
    const { max_tokens: _maximum, ...body } = request([call("f:0")], [result("f:0")]);
    const asked = tokenCounting.messages.ask(body, claude.model);
    expect(asked["messages"]).toEqual(request([call("f_0")], [result("f_0")])["messages"]);
  });
});
