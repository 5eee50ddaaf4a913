/** Conversations at models of Converse that refuse more than Converse itself. Traps T20, T21, T27. */
import { describe, expect, it } from "vitest";
import { routeOf } from "./route.ts";
import type { Body } from "./world.ts";

const picture = { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" };

/** A coding agent's turns: words beside calls and results, and a picture in a result that is an error. */
const conversation: Body = {
  model: "acme/x",
  max_tokens: 100,
  tools: [{ name: "look", input_schema: { type: "object" } }],
  messages: [
    { role: "user", content: "Where is it?" },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        { type: "tool_use", id: "toolu_01ABC", name: "look", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "toolu_01ABC",
          is_error: true,
          content: [
            { type: "text", text: "Here." },
            { type: "image", source: picture },
          ],
        },
        { type: "text", text: "Keep it short." },
      ],
    },
  ],
};

const llama = "us.meta.llama4-scout-17b-instruct-v1:0";
const mistral = "mistral.mistral-large-3-675b-instruct";
const palmyra = "us.writer.palmyra-x5-v1:0";
const kimi = "moonshotai.kimi-k2.5";

const routeTo = (model: string, body = conversation) =>
  routeOf("messages", "converse", body, { upstreamModel: model });
const sent = (model: string) =>
  routeTo(model).body["messages"] as { role: string; content: Body[] }[];
/** The kinds of blocks of each turn, after its role. */
const kinds = (model: string): string[] =>
  sent(model).map(({ role, content }) =>
    [role, ...content.map((block) => Object.keys(block)[0])].join(" "),
  );
const resultAt = (model: string): Body =>
  sent(model)
    .flatMap(({ content }) => content)
    .find((block) => "toolResult" in block)!["toolResult"] as Body;

describe("words beside the blocks of tools at Converse", () => {
  it("T20: stand in turns of their own at Llama, before the calls and after the results", () => {
    expect(kinds(llama)).toEqual([
      "user text",
      "assistant text",
      "user text",
      "assistant toolUse",
      "user toolResult",
      "assistant text",
      "user text",
    ]);
  });

  it.each([mistral, palmyra])("T20: follow the results in a turn of their own at %s", (model) => {
    const turns = kinds(model);
    expect(turns.slice(0, 4)).toEqual([
      "user text",
      "assistant text toolUse",
      "user toolResult",
      "assistant text",
    ]);
    expect(sent(model).at(-1)!.content).toContainEqual({ text: "Keep it short." });
  });

  it.each([
    [llama, ["messages"]],
    [mistral, ["messages"]],
    ["us.amazon.nova-2-lite-v1:0", []],
  ])("T33: are reported at %s if turns were added: %j", (model, params) => {
    expect(routeTo(model).notes.filter(({ kind }) => kind === "rewritten")).toMatchObject(
      params.map((param) => ({ param })),
    );
  });

  it("T20: stay beside them at other models", () => {
    expect(kinds("us.amazon.nova-2-lite-v1:0")).toEqual([
      "user text",
      "assistant text toolUse",
      "user toolResult text",
    ]);
  });
});

describe("tool results at Converse", () => {
  it("T21: have ids of nine characters at Mistral, as their calls have", () => {
    const id = resultAt(mistral)["toolUseId"];
    expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
    const blocks = sent(mistral).flatMap(({ content }) => content);
    expect(blocks).toContainEqual({ toolUse: { toolUseId: id, name: "look", input: {} } });
    expect(resultAt(llama)["toolUseId"]).toBe("toolu_01ABC");
  });

  it.each([mistral, kimi])("T27: have their picture beside them at %s", (model) => {
    const blocks = sent(model).flatMap(({ content }) => content);
    const at = blocks.findIndex((block) => "image" in block);
    expect(blocks[at - 1]!["text"]).toMatch(/^Returned by tool call \w+:$/);
    expect(resultAt(model)["content"]).toEqual([{ text: "Here." }]);
  });

  it("T27: keep their picture at other models", () => {
    expect(resultAt(llama)["content"]).toMatchObject([{ text: "Here." }, { image: {} }]);
  });

  it("T33: lose the mark of an error at Palmyra only, which is reported", () => {
    expect(resultAt(llama)["status"]).toBe("error");
    expect(resultAt(palmyra)).not.toHaveProperty("status");
    expect(routeTo(palmyra).notes).toContainEqual(
      expect.objectContaining({ kind: "dropped", param: "messages.content.is_error" }),
    );
  });
});

describe("streams with tools at Converse", () => {
  const streaming = { ...conversation, stream: true };
  const plain = { model: "acme/x", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] };
  const streams = (model: string, body: Body) =>
    routeOf("messages", "converse", body, { upstreamModel: model, stream: true }).streams;

  it.each([llama, palmyra, "mistral.mistral-large-2407-v1:0"])(
    "T14: are asked for as whole answers at %s, which refuses them",
    (model) => {
      expect(streams(model, streaming)).toBe(false);
      expect(streams(model, { ...plain, stream: true })).toBe(true);
    },
  );

  it.each([mistral, kimi, "us.amazon.nova-2-lite-v1:0"])("T14: are streams at %s", (model) => {
    expect(streams(model, streaming)).toBe(true);
  });
});

describe("stop sequences at Converse", () => {
  const body = { ...conversation, stop_sequences: ["END"] };

  it.each([
    "openai.gpt-oss-120b-1:0",
    "qwen.qwen3-32b-v1:0",
    "deepseek.v3.2",
    "google.gemma-3-27b-it",
    "zai.glm-5",
  ])("T33: are dropped and reported at %s, which refuses them", (model) => {
    const route = routeTo(model, body);
    expect(JSON.stringify(route.body)).not.toContain("stopSequences");
    expect(route.notes).toContainEqual(
      expect.objectContaining({ kind: "dropped", param: "stop_sequences" }),
    );
  });

  it.each(["us.deepseek.r1-v1:0", llama, mistral, "us.amazon.nova-2-lite-v1:0"])(
    "are sent to %s",
    (model) => {
      expect(routeTo(model, body).body["inferenceConfig"]).toMatchObject({
        stopSequences: ["END"],
      });
    },
  );
});
