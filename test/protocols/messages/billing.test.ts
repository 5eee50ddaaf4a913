/** Claude Code's billing line on the direct route. T36. */
import { expect, it } from "vitest";
import { codecs, type JsonObject } from "../../../src/protocols/index.ts";

const line = "x-anthropic-billing-header: cc_version=2.1.9; cc_entrypoint=cli; cch=1f2e3;";
const sent = (system: JsonObject["system"] | undefined, model: string) => {
  const body: JsonObject = {
    model: "acme/talk",
    max_tokens: 1,
    messages: [],
    ...(system && { system }),
  };
  const { body: up, notes } = codecs.messages.direct.request(body, { model, stream: false });
  return { system: up["system"], reported: notes.map(({ param }) => param), body };
};

const agent = { type: "text", text: "You are Claude Code.", cache_control: { type: "ephemeral" } };

it.each([
  "kimi-k2.5",
  "zai-org/GLM-5",
  "deepseek-chat",
  "qwen3-coder:30b",
  "hf.co/unsloth/gpt-oss-20b",
])(
  "T36: %s does not get Claude Code's billing line, which would break its cache on each call",
  (model) => {
    const blocks = sent([{ type: "text", text: line }, agent], model);
    expect(blocks).toMatchObject({ system: [agent], reported: ["system"] });
    expect(blocks.body["system"]).toHaveLength(2);
    const text = sent(`${line}\n\nYou are Claude Code.`, model);
    expect(text).toMatchObject({ system: "You are Claude Code.", reported: ["system"] });
    expect(sent(line, model).system).toBeUndefined();
  },
);

it.each([
  "claude-opus-5",
  "anthropic/claude-sonnet-5",
  "arn:aws:bedrock:eu-1:1:application-inference-profile/x1",
])("T36: %s gets the billing line", (model) => {
  const system = [{ type: "text", text: line }, agent];
  expect(sent(system, model)).toMatchObject({ system, reported: [] });
});

it("T36: other system text that contains the line is kept", () => {
  const system = [agent, { type: "text", text: `About ${line}` }];
  expect(sent(system, "kimi-k2.5")).toMatchObject({ system, reported: [] });
  expect(sent(undefined, "kimi-k2.5").reported).toEqual([]);
});
