// Reads the messages protocol as a client does.
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

function sourceOf(source: Wire): string {
  if (source["type"] === "base64")
    return `data:${text(source["media_type"])};base64,${text(source["data"])}`;
  return text(source["url"] ?? source["file_id"] ?? source["data"]);
}

function blockSays(block: Wire): Said[] {
  switch (block["type"]) {
    case "text":
      return [text(block["text"])];
    case "image":
      return [{ image: sourceOf(wire(block["source"])) }];
    case "document":
      return [
        { file: sourceOf(wire(block["source"])), ...set({ title: block["title"] as string }) },
      ];
    case "tool_use":
      return [{ call: text(block["name"]), id: text(block["id"]), arguments: block["input"] }];
    case "tool_result":
      return [
        {
          result: text(block["tool_use_id"]),
          says: saidOf(block["content"]),
          ...(block["is_error"] === true ? { error: true as const } : {}),
        },
      ];
    case "thinking": {
      const signature = text(block["signature"]);
      return [{ thinks: text(block["thinking"]), ...(signature === "" ? {} : { signature }) }];
    }
    case "redacted_thinking":
      return [{ thinks: "", signature: text(block["data"]) }];
    default:
      return [];
  }
}

const saidOf = (content: unknown): Said[] =>
  (typeof content === "string" ? [content] : items(content).flatMap(blockSays)).filter(
    (said) => said !== "",
  );

function choiceOf(choice: Wire): unknown {
  if (choice["type"] === "any") return "required";
  return choice["type"] === "tool" ? { tool: choice["name"] } : choice["type"];
}

const read = [
  "model",
  "messages",
  "system",
  "tools",
  "tool_choice",
  "thinking",
  "output_config",
  "metadata",
  "max_tokens",
  "stop_sequences",
  "temperature",
  "top_p",
  "top_k",
  "stream",
];

function reasoningOf(body: Wire): Wire {
  const { type, budget_tokens: budget, display } = wire(body["thinking"]);
  const budgets: Wire = { disabled: 0, adaptive: "dynamic", enabled: budget };
  return {
    budget: budgets[text(type)],
    thoughts: display === undefined ? undefined : display !== "omitted",
    effort: wire(body["output_config"])["effort"],
  };
}

function request(body: Wire): RequestMeaning {
  const turns = items(body["messages"]).map(
    (message) => ({ [text(message["role"])]: saidOf(message["content"]) }) as Turn,
  );
  const tools = items(body["tools"])
    .filter((tool) => (tool["type"] ?? "custom") === "custom")
    .map(({ name, description, input_schema: parameters, strict }) => [
      text(name),
      set({ description, parameters, strict: strict === true || undefined }),
    ]);
  const choice = wire(body["tool_choice"]);
  const disabled = choice["disable_parallel_tool_use"];
  const schema = wire(wire(body["output_config"])["format"])["schema"];
  const markers = JSON.stringify(body).split('"cache_control"').length - 1;
  const { user_id: user, ...metadata } = wire(body["metadata"]);
  return {
    system: textOf(saidOf(body["system"]), "\n\n"),
    turns,
    tools: Object.fromEntries(tools) as RequestMeaning["tools"],
    settings: set<unknown>({
      max: body["max_tokens"],
      temperature: body["temperature"],
      top_p: body["top_p"],
      top_k: body["top_k"],
      stop: body["stop_sequences"],
      choice: choiceOf(choice),
      parallel: typeof disabled === "boolean" ? !disabled : undefined,
      ...reasoningOf(body),
      format: schema === undefined ? undefined : { schema },
      user,
      metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
      cache_markers: markers > 0 ? markers : undefined,
    }),
    others: Object.keys(body)
      .filter((name) => !read.includes(name))
      .sort(),
  };
}

/** The input count of this protocol excludes cache reads and writes. */
function usageOf(usage: unknown): UsageMeaning | undefined {
  if (!isWire(usage) || !("input_tokens" in usage)) return undefined;
  const count = (name: string): number => (typeof usage[name] === "number" ? usage[name] : 0);
  const [cached, written] = [
    count("cache_read_input_tokens"),
    count("cache_creation_input_tokens"),
  ];
  return counted({
    input: count("input_tokens") + cached + written,
    cached: usage["cache_read_input_tokens"],
    written: usage["cache_creation_input_tokens"],
    output: usage["output_tokens"],
    reasoning: wire(usage["output_tokens_details"])["thinking_tokens"],
  });
}

const finishes: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
};

function answer(body: Wire): AnswerMeaning {
  if (body["type"] === "error") return { says: [], error: text(wire(body["error"])["message"]) };
  const usage = usageOf(body["usage"]);
  return {
    says: joined(saidOf(body["content"])),
    finish: finishes[text(body["stop_reason"])] ?? `unknown: ${String(body["stop_reason"])}`,
    ...set({ stopped_by: body["stop_sequence"] as string }),
    ...(usage ? { usage } : {}),
  };
}

interface Gathered {
  readonly faults: string[];
  /** Blocks, assembled as SDKs do. */
  readonly blocks: Wire[];
  /** The JSON pieces of the open call. */
  json: string;
  /** Inputs that are no JSON object: only legal if the token limit cut them. */
  readonly cutInputs: string[];
  isOpen: boolean;
  isSigned: boolean;
  message: Wire | undefined;
  ending: Wire | undefined;
  error: string | undefined;
  isOver: boolean;
}

function stream(frames: readonly Frame[]): StreamMeaning {
  const state: Gathered = {
    faults: [],
    blocks: [],
    json: "",
    cutInputs: [],
    isOpen: false,
    isSigned: false,
    message: undefined,
    ending: undefined,
    error: undefined,
    isOver: false,
  };
  for (const [index, frame] of frames.entries()) takeFrame(state, frame, `event ${index}`);
  const { faults, blocks, message = {}, ending, error } = state;
  if (error !== undefined) return { says: joined(blocks.flatMap(blockSays)), error, faults };
  if (!state.isOver) faults.push("no message_stop at the end");
  const ended = wire(ending?.["delta"]);
  if (ended["stop_reason"] !== "max_tokens") faults.push(...state.cutInputs);
  const mergedUsage = { ...wire(message["usage"]), ...set(wire(ending?.["usage"])) };
  const whole = { ...message, ...ended, content: blocks, usage: mergedUsage };
  return { ...answer(whole), faults };
}

function takeFrame(state: Gathered, frame: Frame, number: string): void {
  const { faults } = state;
  const at = `${number} (${frame.event ?? "without a name"})`;
  const data = parsed(frame.data);
  if (!isWire(data)) {
    faults.push(`${at} is not a JSON object`);
    return;
  }
  if (frame.event !== data["type"]) faults.push(`${at} says it is ${String(data["type"])}`);
  if (state.isOver || state.error !== undefined) faults.push(`${at} after the end`);
  if (data["type"] === "error") state.error = text(wire(data["error"])["message"]);
  else if (data["type"] !== "ping") takeData(state, data, at);
}

function takeData(state: Gathered, data: Wire, at: string): void {
  const { faults } = state;
  if ((data["type"] === "message_start") !== (state.message === undefined))
    faults.push(`${at} is out of place`);
  if (state.ending && data["type"] !== "message_stop") faults.push(`${at} after message_delta`);
  switch (data["type"]) {
    case "message_start":
      state.message = wire(data["message"]);
      if (items(state.message["content"]).length > 0) faults.push(`${at} has content`);
      return;
    case "message_delta":
      if (state.isOpen) faults.push(`${at} while a block is open`);
      if (text(wire(data["delta"])["stop_reason"]) === "")
        faults.push(`${at} tells no stop_reason`);
      state.ending = data;
      return;
    case "message_stop":
      if (!state.ending) faults.push(`${at} without message_delta`);
      state.isOver = true;
      return;
    default:
      takeBlockEvent(state, data, at);
  }
}

function takeBlockEvent(state: Gathered, data: Wire, at: string): void {
  const { faults, blocks } = state;
  const block = blocks.at(-1);
  if (data["type"] === "content_block_start") {
    if (state.isOpen) faults.push(`${at} while a block is open`);
    if (data["index"] !== blocks.length) faults.push(`${at} has index ${String(data["index"])}`);
    state.isOpen = true;
    state.isSigned = false;
    state.json = "";
    blocks.push({ ...wire(data["content_block"]) });
    return;
  }
  if (!state.isOpen || !block || data["index"] !== blocks.length - 1) {
    faults.push(`${at} is of no open block`);
    return;
  }
  if (data["type"] === "content_block_delta") takeDelta(state, block, wire(data["delta"]), at);
  else if (data["type"] === "content_block_stop") {
    state.isOpen = false;
    if (state.json === "") return;
    const input = parsed(state.json);
    if (!isWire(input)) state.cutInputs.push(`${at}: the pieces of the input are no JSON object`);
    block["input"] = isWire(input) ? withoutTaken(input) : { arguments: state.json };
  } else faults.push(`${at} is unknown`);
}

/** If streamed arguments turned out to be no object, already sent members are null, and `arguments` has the whole text. */
function withoutTaken(input: Wire): Wire {
  const { arguments: whole, ...others } = input;
  const isTaken = Object.values(others).every((value) => value === null);
  return typeof whole === "string" && !isWire(parsed(whole)) && isTaken
    ? { arguments: whole }
    : input;
}

const deltaKinds: Readonly<Record<string, string>> = {
  citations_delta: "text",
  text_delta: "text",
  input_json_delta: "tool_use",
  thinking_delta: "thinking",
  signature_delta: "thinking",
};

function takeDelta(state: Gathered, block: Wire, delta: Wire, at: string): void {
  const { faults } = state;
  const type = text(delta["type"]);
  if (deltaKinds[type] !== block["type"])
    faults.push(`${at}: ${type} on a block of type ${String(block["type"])}`);
  if (state.isSigned) faults.push(`${at} after the signature`);
  if (type === "text_delta") block["text"] = text(block["text"]) + text(delta["text"]);
  else if (type === "thinking_delta")
    block["thinking"] = text(block["thinking"]) + text(delta["thinking"]);
  else if (type === "signature_delta") {
    block["signature"] = delta["signature"];
    state.isSigned = true;
  } else if (type === "citations_delta")
    block["citations"] = [...items(block["citations"]), wire(delta["citation"])];
  else state.json += text(delta["partial_json"]);
}

export const messagesReader: Reader = { request, answer, stream };
