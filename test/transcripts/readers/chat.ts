// Reads chat completions as a client does.
import {
  counted,
  isWire,
  items,
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

const saidOf = (content: unknown): Said[] =>
  (typeof content === "string" ? [content] : items(content).map(partSays)).filter(
    (said) => said !== "",
  );

function partSays(part: Wire): Said {
  const image = wire(part["image_url"]);
  switch (part["type"]) {
    case "image_url":
      return { image: text(image["url"]), ...set({ detail: image["detail"] as string }) };
    case "input_audio": {
      const { data, format } = wire(part["input_audio"]);
      return { audio: `${text(format)}:${text(data)}` };
    }
    case "video_url":
      return { video: text(wire(part["video_url"])["url"]) };
    case "file": {
      const { file_data: data, file_id: id, filename } = wire(part["file"]);
      return { file: text(data ?? id), ...set({ title: filename as string }) };
    }
    case "refusal":
      return { refuses: text(part["refusal"]) };
    default:
      return text(part["text"]);
  }
}

/** The content of an assistant message: reasoning, text, refusal, pictures, calls. */
function assistantSays(message: Wire): Said[] {
  const thought = text(message["reasoning_content"] ?? message["reasoning"]);
  const details = message["reasoning_details"];
  const signature = Array.isArray(details) ? JSON.stringify(details) : undefined;
  const said: Said[] = [];
  if (thought !== "" || signature !== undefined) {
    said.push({ thinks: thought, ...set({ signature }) });
  }
  said.push(...saidOf(message["content"]));
  if (text(message["refusal"]) !== "") said.push({ refuses: text(message["refusal"]) });
  said.push(...saidOf(message["images"]));
  for (const call of items(message["tool_calls"])) said.push(callOf(call));
  return said;
}

function callOf(call: Wire): Said {
  const { name: tool, input } = wire(call["custom"]);
  if (call["type"] === "custom")
    return { call: text(tool), id: text(call["id"]), arguments: input };
  const { name, arguments: json } = wire(call["function"]);
  // Some vendors send an object instead of JSON text.
  const args = typeof json === "string" ? parsed(json) : json;
  return { call: text(name), id: text(call["id"]), arguments: args };
}

function turnsOf(messages: Wire[]): { system: string[]; turns: Turn[] } {
  const system: string[] = [];
  const turns: Turn[] = [];
  for (const message of messages) {
    const said = saidOf(message["content"]);
    const last = turns.at(-1);
    if (message["role"] === "system" || message["role"] === "developer") {
      if (turns.length === 0) system.push(textOf(said, ""));
      else turns.push({ system: said });
    } else if (message["role"] === "assistant") turns.push({ assistant: assistantSays(message) });
    else if (message["role"] === "tool") {
      const result: Said = { result: text(message["tool_call_id"]), says: said };
      if (last && "user" in last && last.user.every((one) => isWire(one) && "result" in one)) {
        last.user.push(result);
      } else turns.push({ user: [result] });
    } else if (last && "user" in last && last.user.some((one) => isWire(one) && "result" in one)) {
      // User content after tool results belongs to the same turn.
      last.user.push(...said);
    } else turns.push({ user: said });
  }
  return { system, turns };
}

function choiceOf(choice: unknown): unknown {
  if (!isWire(choice)) return choice;
  if (choice["type"] === "function") return { tool: wire(choice["function"])["name"] };
  const { mode, tools } = wire(choice["allowed_tools"]);
  return { allowed: items(tools).map((tool) => wire(tool["function"])["name"]), mode };
}

function formatOf(format: unknown): unknown {
  if (!isWire(format)) return undefined;
  if (format["type"] === "json_object") return "json";
  if (format["type"] !== "json_schema") return format["type"];
  const { name, schema } = wire(format["json_schema"]);
  return { name, schema };
}

const plain = {
  temperature: "temperature",
  top_p: "top_p",
  stop: "stop",
  seed: "seed",
  presence_penalty: "presence_penalty",
  frequency_penalty: "frequency_penalty",
  parallel_tool_calls: "parallel",
  reasoning_effort: "effort",
  verbosity: "verbosity",
  user: "user",
  prompt_cache_key: "cache_key",
  metadata: "metadata",
  store: "store",
} as const;

const read = [
  "model",
  "messages",
  "tools",
  "tool_choice",
  "response_format",
  "max_tokens",
  "max_completion_tokens",
  "stream",
  "stream_options",
  ...Object.keys(plain),
];

function request(body: Wire): RequestMeaning {
  const { system, turns } = turnsOf(items(body["messages"]));
  const tools = items(body["tools"])
    .filter((tool) => tool["type"] === "function")
    .map((tool) => wire(tool["function"]))
    .map(({ name, description, parameters, strict }) => [
      text(name),
      set({ description, parameters, strict: strict === true || undefined }),
    ]);
  const settings: Wire = {
    max: body["max_completion_tokens"] ?? body["max_tokens"],
    choice: choiceOf(body["tool_choice"]),
    format: formatOf(body["response_format"]),
  };
  for (const [name, meaning] of Object.entries(plain)) settings[meaning] = body[name];
  return {
    system: system.join("\n\n"),
    turns,
    tools: Object.fromEntries(tools) as RequestMeaning["tools"],
    settings: set(settings),
    others: Object.keys(body)
      .filter((name) => !read.includes(name))
      .sort(),
  };
}

function usageOf(usage: unknown): UsageMeaning | undefined {
  if (!isWire(usage)) return undefined;
  const input = wire(usage["prompt_tokens_details"]);
  return counted({
    input: usage["prompt_tokens"],
    cached: input["cached_tokens"],
    written: input["cache_write_tokens"],
    output: usage["completion_tokens"],
    reasoning: wire(usage["completion_tokens_details"])["reasoning_tokens"],
  });
}

function answer(body: Wire): AnswerMeaning {
  const error = errorOf(body);
  if (error !== undefined) return { says: [], error };
  const choice = items(body["choices"])[0] ?? {};
  const usage = usageOf(body["usage"]);
  return {
    says: assistantSays(wire(choice["message"])),
    finish: text(choice["finish_reason"]),
    ...stoppedBy(choice),
    ...(usage ? { usage } : {}),
  };
}

/** The matched stop sequence, in vLLM's field. */
const stoppedBy = (choice: Wire): { stopped_by?: string } =>
  typeof choice["stop_reason"] === "string" ? { stopped_by: choice["stop_reason"] } : {};

const errorOf = (body: Wire): string | undefined =>
  isWire(body["error"]) ? text(body["error"]["message"]) : undefined;

/** State of reading a stream: the message, assembled as SDKs do. */
interface Gathered {
  readonly faults: string[];
  readonly message: Wire;
  readonly calls: Wire[];
  head: string | undefined;
  /** The same without the time. */
  errorHead: string | undefined;
  finish: string | undefined;
  stopped: { stopped_by?: string };
  usage: UsageMeaning | undefined;
  /** True if chunks have a `usage` key; all must have it, or none. */
  hasUsageKey: boolean | undefined;
  error: string | undefined;
  isDone: boolean;
}

function stream(frames: readonly Frame[]): StreamMeaning {
  const state: Gathered = {
    faults: [],
    message: {},
    calls: [],
    head: undefined,
    errorHead: undefined,
    finish: undefined,
    stopped: {},
    usage: undefined,
    hasUsageKey: undefined,
    error: undefined,
    isDone: false,
  };
  for (const [index, frame] of frames.entries()) takeFrame(state, frame, `frame ${index}`);
  const { faults, message, calls, finish, usage, error } = state;
  if (error === undefined) {
    if (!state.isDone) faults.push("no [DONE] at the end");
    if (finish === undefined) faults.push("no finish_reason");
  }
  if (calls.length > 0) message["tool_calls"] = calls;
  return {
    says: assistantSays(message),
    ...(error === undefined ? { ...set({ finish }), ...state.stopped } : { error }),
    ...(usage ? { usage } : {}),
    faults,
  };
}

/** The gateway's chunk of an error has no time: it does not have the shape of others. */
function takeHead(state: Gathered, chunk: Wire, at: string): void {
  const { id, created, model } = chunk;
  const isError = errorOf(chunk) !== undefined;
  const head = JSON.stringify([id, model, ...(isError ? [] : [created])]);
  const before = isError ? state.errorHead : state.head;
  if (before !== undefined && before !== head)
    state.faults.push(`${at} changes id, created or model`);
  state.head = head;
  state.errorHead = JSON.stringify([id, model]);
}

function takeFrame(state: Gathered, frame: Frame, at: string): void {
  const { faults } = state;
  if (frame.event !== undefined) faults.push(`${at} has an event line`);
  if (state.isDone) faults.push(`${at} after [DONE]`);
  if (frame.data === "[DONE]") {
    state.isDone = true;
    return;
  }
  const chunk = parsed(frame.data);
  if (!isWire(chunk)) {
    faults.push(`${at} is not a JSON object`);
    return;
  }
  if (state.error !== undefined) faults.push(`${at} after the error`);
  const isFirst = state.head === undefined;
  takeHead(state, chunk, at);
  if (!isNamedRight(chunk)) faults.push(`${at} is a ${String(chunk["object"])}`);
  if (errorOf(chunk) !== undefined) {
    state.error = errorOf(chunk);
    return;
  }
  takeUsageKey(state, chunk, at);
  const choices = items(chunk["choices"]);
  if (choices.length > 1) faults.push(`${at} has ${choices.length} choices`);
  const [choice] = choices;
  if (!choice) {
    if (state.usage === undefined) faults.push(`${at} has neither choice nor usage`);
    return;
  }
  if (isFirst && wire(choice["delta"])["role"] !== "assistant")
    faults.push("the first chunk names no role");
  takeChoice(state, choice, at);
}

/** Vendors send an error in a chunk, and the gateway in an object of its own (test/frameworks/requests.test.ts). */
const isNamedRight = (chunk: Wire): boolean =>
  chunk["object"] === "chat.completion.chunk" ||
  (chunk["object"] === "error" && errorOf(chunk) !== undefined);

function takeUsageKey(state: Gathered, chunk: Wire, at: string): void {
  const hasKey = "usage" in chunk;
  if (state.hasUsageKey !== undefined && state.hasUsageKey !== hasKey) {
    state.faults.push(`${at}: some chunks have a usage key and some have none`);
  }
  state.hasUsageKey = hasKey;
  const usage = usageOf(chunk["usage"]);
  if (!usage) return;
  if (state.usage) state.faults.push(`${at} tells usage again`);
  if (items(chunk["choices"]).length > 0) state.faults.push(`${at} tells usage beside a choice`);
  state.usage = usage;
}

function takeChoice(state: Gathered, choice: Wire, at: string): void {
  const { faults, message } = state;
  const delta = wire(choice["delta"]);
  if (choice["index"] !== 0) faults.push(`${at} is choice ${String(choice["index"])}`);
  if (state.finish !== undefined) faults.push(`${at} goes on after the finish`);
  for (const key of ["content", "refusal", "reasoning_content", "reasoning"]) {
    if (typeof delta[key] === "string") message[key] = text(message[key]) + delta[key];
  }
  if (Array.isArray(delta["reasoning_details"])) {
    const before = (message["reasoning_details"] ?? []) as unknown[];
    message["reasoning_details"] = [...before, ...(delta["reasoning_details"] as unknown[])];
  }
  for (const piece of items(delta["tool_calls"])) takePiece(state, piece, at);
  if (typeof choice["finish_reason"] === "string") {
    state.finish = choice["finish_reason"];
    state.stopped = stoppedBy(choice);
  }
}

/** Members of a call by kind: the object with its name, and the field with its arguments. */
const kinds: Readonly<Record<string, readonly [holder: string, written: string]>> = {
  function: ["function", "arguments"],
  custom: ["custom", "input"],
};

function takePiece({ faults, calls }: Gathered, piece: Wire, at: string): void {
  const index = piece["index"];
  const known = typeof index === "number" ? calls[index] : undefined;
  const type = text(known?.["type"] ?? piece["type"]);
  const [holder, written] = kinds[type] ?? ["", ""];
  const calledTool = wire(piece[holder]);
  if (typeof index !== "number") {
    faults.push(`${at}: a piece of a call has no index`);
    return;
  }
  if (known) {
    if ("id" in piece || "name" in calledTool) faults.push(`${at}: call ${index} is named again`);
    const named = wire(known[holder]);
    named[written] = text(named[written]) + text(calledTool[written]);
    return;
  }
  if (index !== calls.length)
    faults.push(`${at}: call ${index} begins before call ${calls.length}`);
  if (text(piece["id"]) === "" || text(calledTool["name"]) === "" || holder === "") {
    faults.push(`${at}: call ${index} begins without id, type or name`);
  }
  calls[index] = {
    id: piece["id"],
    type,
    [holder]: { name: calledTool["name"], [written]: text(calledTool[written]) },
  };
}

export const chatReader: Reader = { request, answer, stream };
