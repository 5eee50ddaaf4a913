/** `POST /bedrock/runtime/model/MODEL/converse` and `converse-stream` as the vendor speaks them: blocks of one member each. */
import { newId } from "../../src/base/ids.ts";
import type { Answer } from "../answer.ts";
import { pieces } from "../answer.ts";
import { textOf, type Question, type Turn } from "../conversation.ts";
import type { Json } from "../json.ts";
import { asList, asNumber, asObject, asText } from "../json.ts";
import { seal } from "../seal.ts";
import type { Call, Endpoint, Frame } from "../vendor.ts";
import { converseStrict } from "./converse-strict.ts";

const stopReasons: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "content_filtered",
};

const blocksOf = (content: unknown): Json[] => asList(content).map(asObject);

function readTurn(message: Json): Turn {
  const blocks = blocksOf(message["content"]);
  const results = blocks
    .filter((block) => "toolResult" in block)
    .map((block) => blocksOf(asObject(block["toolResult"])["content"]));
  return {
    role: message["role"] === "assistant" ? "assistant" : "user",
    text: textOf(blocks),
    images: [...blocks, ...results.flat()].filter((block) => "image" in block).length,
    calls: blocks.filter((block) => "toolUse" in block).length,
    results: results.map(textOf),
  };
}

function readToolChoice(choice: Json): Question["toolChoice"] {
  if ("tool" in choice) return { name: asText(asObject(choice["tool"])["name"]) };
  return "any" in choice ? "required" : "auto";
}

function reasons(fields: Json): boolean {
  const kinds = [fields["thinking"], fields["reasoningConfig"]].map(
    (wish) => asObject(wish)["type"],
  );
  const isOn = kinds.some((kind) => kind === "enabled" || kind === "adaptive");
  return isOn || fields["reasoning_effort"] !== undefined;
}

/** A schema comes as JSON text. */
function wishedSchema(body: Json): Question["json"] {
  const { textFormat } = asObject(body["outputConfig"]);
  const { jsonSchema } = asObject(asObject(textFormat)["structure"]);
  const { schema } = asObject(jsonSchema);
  return schema === undefined ? undefined : { schema: asObject(JSON.parse(asText(schema))) };
}

function question({ body }: Call): Question {
  const turns = blocksOf(body["messages"]).map(readTurn);
  const system = textOf(blocksOf(body["system"]));
  const inference = asObject(body["inferenceConfig"]);
  const config = asObject(body["toolConfig"]);
  return {
    turns:
      system === ""
        ? turns
        : [{ role: "system", text: system, images: 0, calls: 0, results: [] }, ...turns],
    tools: blocksOf(config["tools"])
      .filter((tool) => "toolSpec" in tool)
      .map((tool) => asObject(tool["toolSpec"]))
      .map(({ name, inputSchema }) => ({
        name: asText(name),
        schema: asObject(asObject(inputSchema)["json"]),
      })),
    toolChoice: readToolChoice(asObject(config["toolChoice"])),
    stop: asList(inference["stopSequences"]).map(asText),
    maxTokens: asNumber(inference["maxTokens"]),
    reasoning: reasons(asObject(body["additionalModelRequestFields"])),
    json: wishedSchema(body),
  };
}

function contentBlocks(answer: Answer): Json[] {
  const blocks: Json[] = [];
  if (answer.reasoning !== "") {
    const reasoningText = { text: answer.reasoning, signature: seal(answer.reasoning) };
    blocks.push({ reasoningContent: { reasoningText } });
  }
  if (answer.text !== "") blocks.push({ text: answer.text });
  for (const { name, arguments: input } of answer.calls)
    blocks.push({ toolUse: { toolUseId: newId("tooluse"), name, input } });
  return blocks;
}

/** Reasoning is a part of the output and has no number of its own; of cache writes there is one for each life. */
function usageJson({ usage }: Answer): Json {
  if (!usage) return {};
  const { input, output, cacheRead, cacheWrite } = usage;
  return {
    usage: {
      inputTokens: Math.max(0, input - cacheRead - cacheWrite),
      outputTokens: output,
      totalTokens: input + output,
      cacheReadInputTokens: cacheRead,
      cacheWriteInputTokens: cacheWrite,
      cacheDetails: cacheWrite > 0 ? [{ ttl: "5m", inputTokens: cacheWrite }] : [],
    },
  };
}

function stopReason(answer: Answer): string {
  if (answer.stopSequence !== undefined && answer.finish === "stop") return "stop_sequence";
  return stopReasons[answer.finish] ?? answer.finish;
}

const frame = (kind: Frame["kind"], event: string, data: Json): Frame => ({
  kind,
  event,
  // The vendor pads its frames, so that their length tells nothing.
  data: JSON.stringify({ ...data, p: "abcdefghij" }),
});

/** The deltas that fill a block; only calls have a start. */
function deltasOf(block: Json, chunkChars: number): Json[] {
  const split = (text: unknown) => [...pieces(asText(text), chunkChars)];
  if ("toolUse" in block) {
    const input = JSON.stringify(asObject(block["toolUse"])["input"]);
    return split(input).map((part) => ({ toolUse: { input: part } }));
  }
  if (!("reasoningContent" in block)) return split(block["text"]).map((text) => ({ text }));
  const { text, signature } = asObject(asObject(block["reasoningContent"])["reasoningText"]);
  return [
    ...split(text).map((part) => ({ reasoningContent: { text: part } })),
    { reasoningContent: { signature } },
  ];
}

function* streamFrames(answer: Answer, blocks: readonly Json[]): Generator<Frame> {
  yield frame("open", "messageStart", { role: "assistant" });
  for (const [contentBlockIndex, block] of blocks.entries()) {
    if ("toolUse" in block) {
      const { toolUseId, name } = asObject(block["toolUse"]);
      const start = { toolUse: { toolUseId, name } };
      yield frame("open", "contentBlockStart", { start, contentBlockIndex });
    }
    for (const delta of deltasOf(block, answer.chunkChars))
      yield frame("content", "contentBlockDelta", { delta, contentBlockIndex });
    yield frame("close", "contentBlockStop", { contentBlockIndex });
  }
  yield frame("close", "messageStop", { stopReason: stopReason(answer) });
  yield frame("end", "metadata", { ...usageJson(answer), metrics: { latencyMs: 12 } });
}

function render(_call: Call, answer: Answer): ReturnType<Endpoint["render"]> {
  const content = contentBlocks(answer);
  return {
    whole: () => ({
      output: { message: { role: "assistant", content } },
      stopReason: stopReason(answer),
      ...usageJson(answer),
      metrics: { latencyMs: 12 },
    }),
    frames: () => streamFrames(answer, content),
    errorFrames: ({ message, type }) => [
      {
        kind: "close",
        event: "error",
        data: JSON.stringify({ error: { message, ...(type === undefined ? {} : { type }) } }),
      },
    ],
  };
}

export const converse: Endpoint = { name: "converse", strict: converseStrict, question, render };
