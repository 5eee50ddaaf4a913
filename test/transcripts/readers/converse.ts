// Reads Amazon Bedrock's Converse as a client does. The stream's binary frames are given as events named by their type.
import {
  counted,
  isWire,
  items,
  joined,
  parsed,
  set,
  text,
  textOf,
  wire,
  type AnswerMeaning,
  type Frame,
  type Reader,
  type RequestMeaning,
  type Said,
  type StreamMeaning,
  type Turn,
  type UsageMeaning,
  type Wire,
} from "./meaning.ts";

/** The media types of the formats in the transcripts. */
const mediaTypes: Readonly<Record<string, string>> = {
  png: "image/png",
  jpeg: "image/jpeg",
  pdf: "application/pdf",
  txt: "text/plain",
  wav: "audio/wav",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
};

function mediaOf(media: Wire): string {
  const format = text(media["format"]);
  const bytes = text(wire(media["source"])["bytes"]);
  return `data:${mediaTypes[format] ?? format};base64,${bytes}`;
}

function blockSays(block: Wire): Said[] {
  const [kind = ""] = Object.keys(block);
  const inner = wire(block[kind]);
  switch (kind) {
    case "text":
      return [text(block["text"])];
    case "json":
      return [JSON.stringify(block["json"])];
    case "image":
      return [{ image: mediaOf(inner) }];
    case "audio":
      return [{ audio: `${text(inner["format"])}:${text(wire(inner["source"])["bytes"])}` }];
    case "video":
      return [{ video: mediaOf(inner) }];
    case "document":
      return [{ file: mediaOf(inner), ...set({ title: inner["name"] as string }) }];
    case "toolUse":
      return [
        { call: text(inner["name"]), id: text(inner["toolUseId"]), arguments: inner["input"] },
      ];
    case "toolResult":
      return [
        {
          result: text(inner["toolUseId"]),
          says: saidOf(inner["content"]),
          ...(inner["status"] === "error" ? { error: true as const } : {}),
        },
      ];
    case "reasoningContent": {
      const { text: thought, signature } = wire(inner["reasoningText"]);
      return [{ thinks: text(thought), ...set({ signature: signature as string }) }];
    }
    default:
      return [];
  }
}

const saidOf = (content: unknown): Said[] =>
  items(content)
    .flatMap(blockSays)
    .filter((said) => said !== "");

function choiceOf(choice: Wire): unknown {
  if ("tool" in choice) return { tool: wire(choice["tool"])["name"] };
  if ("any" in choice) return "required";
  return "auto" in choice ? "auto" : undefined;
}

const read = ["messages", "system", "inferenceConfig", "toolConfig"];

function request(body: Wire): RequestMeaning {
  const turns = items(body["messages"]).map(
    ({ role, content }) => ({ [text(role)]: saidOf(content) }) as Turn,
  );
  const config = wire(body["toolConfig"]);
  const tools = items(config["tools"])
    .filter((tool) => "toolSpec" in tool)
    .map((tool) => {
      const { name, description, inputSchema } = wire(tool["toolSpec"]);
      const parameters = wire(inputSchema)["json"];
      return [text(name), set({ description, parameters })];
    });
  const { maxTokens, temperature, topP, stopSequences } = wire(body["inferenceConfig"]);
  const markers = JSON.stringify(body).split('"cachePoint"').length - 1;
  return {
    system: textOf(saidOf(body["system"]), "\n\n"),
    turns,
    tools: Object.fromEntries(tools) as RequestMeaning["tools"],
    settings: set<unknown>({
      max: maxTokens,
      temperature,
      top_p: topP,
      stop: stopSequences,
      choice: choiceOf(wire(config["toolChoice"])),
      cache_markers: markers > 0 ? markers : undefined,
    }),
    others: Object.keys(body)
      .filter((name) => !read.includes(name))
      .sort(),
  };
}

/** Converse's input count excludes cache reads and writes; it has no count of reasoning. */
function usageOf(usage: unknown): UsageMeaning | undefined {
  if (!isWire(usage)) return undefined;
  const count = (name: string): number => (typeof usage[name] === "number" ? usage[name] : 0);
  const [cached, written] = [count("cacheReadInputTokens"), count("cacheWriteInputTokens")];
  return counted({
    input: count("inputTokens") + cached + written,
    cached,
    written,
    output: usage["outputTokens"],
  });
}

const finishes: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  tool_use: "tool_calls",
  content_filtered: "content_filter",
  guardrail_intervened: "content_filter",
};

function answer(body: Wire): AnswerMeaning {
  const usage = usageOf(body["usage"]);
  return {
    says: joined(saidOf(wire(wire(body["output"])["message"])["content"])),
    finish: finishes[text(body["stopReason"])] ?? `unknown: ${String(body["stopReason"])}`,
    ...(usage ? { usage } : {}),
  };
}

/** Assembles blocks by index; text blocks have no start event. */
function stream(frames: readonly Frame[]): StreamMeaning {
  const faults: string[] = [];
  const blocks: Wire[] = [];
  const inputs: string[] = [];
  let stopReason: unknown;
  let usage: unknown;
  for (const [number, frame] of frames.entries()) {
    const at = `event ${number} (${frame.event ?? "without a name"})`;
    const data = wire(parsed(frame.data));
    if ((frame.event === "messageStart") !== (number === 0)) faults.push(`${at} is out of place`);
    const index = Number(data["contentBlockIndex"] ?? 0);
    if (frame.event === "contentBlockStart") {
      blocks[index] = wire(data["start"]);
      inputs[index] = "";
    } else if (frame.event === "contentBlockDelta")
      takeDelta(blocks, inputs, index, wire(data["delta"]));
    else if (frame.event === "contentBlockStop") {
      const call = wire(blocks[index]);
      if ("toolUse" in call)
        blocks[index] = {
          toolUse: { ...wire(call["toolUse"]), input: parsed(inputs[index] || "{}") },
        };
    } else if (frame.event === "messageStop") ({ stopReason } = data);
    else if (frame.event === "metadata") ({ usage } = data);
    else if (frame.event !== "messageStart") faults.push(`${at} is unknown`);
  }
  if (stopReason === undefined) faults.push("no messageStop");
  return { ...answer({ output: { message: { content: blocks } }, stopReason, usage }), faults };
}

function takeDelta(blocks: Wire[], inputs: string[], index: number, delta: Wire): void {
  const block = blocks[index] ?? {};
  if (typeof delta["text"] === "string")
    blocks[index] = { text: text(block["text"]) + delta["text"] };
  else if ("toolUse" in delta)
    inputs[index] = (inputs[index] ?? "") + text(wire(delta["toolUse"])["input"]);
  else if ("reasoningContent" in delta) {
    const { text: more, signature } = wire(delta["reasoningContent"]);
    const before = wire(wire(block["reasoningContent"])["reasoningText"]);
    const reasoningText = {
      text: text(before["text"]) + text(more),
      ...set({ signature: signature ?? before["signature"] }),
    };
    blocks[index] = { reasoningContent: { reasoningText } };
  }
}

export const converseReader: Reader = { request, answer, stream };
