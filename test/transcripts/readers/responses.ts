// Reads the responses protocol as a client does.
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
  type Reader,
  type RequestMeaning,
  type Said,
  type Turn,
  type UsageMeaning,
  type Wire,
} from "./meaning.ts";
import { readResponsesStream } from "./responses-stream.ts";

const saidOf = (content: unknown): Said[] =>
  (typeof content === "string" ? [content] : items(content).map(partSays)).filter(
    (said) => said !== "",
  );

function partSays(part: Wire): Said {
  switch (part["type"]) {
    case "input_image":
      return {
        image: text(part["image_url"] ?? part["file_id"]),
        // The protocol requires the member; its default has no meaning.
        ...(part["detail"] === "auto" ? {} : set({ detail: part["detail"] as string })),
      };
    case "input_file":
      return {
        file: text(part["file_data"] ?? part["file_url"] ?? part["file_id"]),
        ...set({ title: part["filename"] as string }),
      };
    case "input_audio": {
      const { data, format } = wire(part["input_audio"]);
      return { audio: `${text(format)}:${text(data)}` };
    }
    case "refusal":
      return { refuses: text(part["refusal"]) };
    default:
      return text(part["text"]);
  }
}

/** A tool's name, after its namespace if it has one. */
const nameOf = ({ namespace, name }: Wire): string =>
  namespace === undefined ? text(name) : `${text(namespace)} ${text(name)}`;

/** The role and the content of one item. */
function itemSays(item: Wire): { role: "user" | "assistant" | "system"; said: Said[] } {
  switch (item["type"] ?? "message") {
    case "function_call": {
      const { call_id: id, arguments: json } = item;
      const call = { call: nameOf(item), id: text(id), arguments: parsed(text(json)) };
      return { role: "assistant", said: [call] };
    }
    case "custom_tool_call": {
      const { call_id: id, input } = item;
      return { role: "assistant", said: [{ call: nameOf(item), id: text(id), arguments: input }] };
    }
    case "function_call_output":
    case "custom_tool_call_output":
      return {
        role: "user",
        said: [{ result: text(item["call_id"]), says: saidOf(item["output"]) }],
      };
    case "reasoning":
      return { role: "assistant", said: thoughtOf(item) };
    case "message": {
      const role = item["role"] === "developer" ? "system" : item["role"];
      return { role: role as "user", said: saidOf(item["content"]) };
    }
    default:
      return { role: "assistant", said: [] };
  }
}

function thoughtOf(item: Wire): Said[] {
  const summary = items(item["summary"]).map((part) => text(part["text"]));
  const raw = items(item["content"]).map((part) => text(part["text"]));
  const thinks = (summary.length > 0 ? summary : raw).join("\n\n");
  const signature = item["encrypted_content"] as string | undefined;
  return thinks === "" && !signature ? [] : [{ thinks, ...set({ signature }) }];
}

function turnsOf(input: unknown): Turn[] {
  if (typeof input === "string") return [{ user: saidOf(input) }];
  const turns: Turn[] = [];
  let lastType: unknown;
  for (const item of items(input)) {
    const { role, said } = itemSays(item);
    const last = turns.at(-1);
    // Consecutive assistant items are one turn. Tool results and following user content are one turn too.
    const isResult = item["type"] === "function_call_output";
    const joins = role === "assistant" || (role === "user" && lastType === "function_call_output");
    const spoken = last === undefined ? undefined : (last as Record<string, Said[]>)[role];
    if (spoken && (joins || (isResult && lastType === "function_call_output")))
      spoken.push(...said);
    else turns.push({ [role]: said } as Turn);
    lastType = item["type"];
  }
  return turns;
}

function choiceOf(choice: unknown): unknown {
  if (!isWire(choice)) return choice;
  if (choice["type"] === "function") return { tool: nameOf(choice) };
  return { allowed: items(choice["tools"]).map(nameOf), mode: choice["mode"] };
}

function formatOf(format: unknown): unknown {
  if (!isWire(format)) return undefined;
  if (format["type"] === "json_object") return "json";
  return format["type"] === "json_schema"
    ? { name: format["name"], schema: format["schema"] }
    : format["type"];
}

const plain = {
  max_output_tokens: "max",
  temperature: "temperature",
  top_p: "top_p",
  presence_penalty: "presence_penalty",
  frequency_penalty: "frequency_penalty",
  parallel_tool_calls: "parallel",
  user: "user",
  prompt_cache_key: "cache_key",
  metadata: "metadata",
  store: "store",
} as const;

const read = [
  "model",
  "input",
  "instructions",
  "tools",
  "tool_choice",
  "text",
  "reasoning",
  "stream",
  ...Object.keys(plain),
];

function request(body: Wire): RequestMeaning {
  const tools = items(body["tools"])
    .flatMap((tool) =>
      tool["type"] === "namespace"
        ? items(tool["tools"]).map((one) => ({ ...one, namespace: tool["name"] }))
        : [tool],
    )
    .filter((tool) => tool["type"] === "function")
    .map(({ description, parameters, strict, ...tool }) => [
      nameOf(tool),
      set({ description, parameters, strict: strict === true || undefined }),
    ]);
  const { effort, summary, mode, context } = wire(body["reasoning"]);
  const settings: Wire = {
    choice: choiceOf(body["tool_choice"]),
    format: formatOf(wire(body["text"])["format"]),
    verbosity: wire(body["text"])["verbosity"],
    effort,
    summary,
    mode,
    context,
  };
  for (const [name, meaning] of Object.entries(plain)) settings[meaning] = body[name];
  // System messages before the conversation equal `instructions`.
  const turns = turnsOf(body["input"]);
  const system = [text(body["instructions"])];
  for (let first = turns[0]; first && "system" in first; first = turns[0]) {
    system.push(textOf(first.system, ""));
    turns.shift();
  }
  return {
    system: system.filter((one) => one !== "").join("\n\n"),
    turns,
    tools: Object.fromEntries(tools) as RequestMeaning["tools"],
    settings: set(settings),
    others: Object.keys(body)
      .filter((name) => !read.includes(name))
      .sort(),
  };
}

/** The usage in the protocol's fields. */
function usageOf(usage: unknown): UsageMeaning | undefined {
  if (!isWire(usage)) return undefined;
  const input = wire(usage["input_tokens_details"]);
  return counted({
    input: usage["input_tokens"],
    cached: input["cached_tokens"],
    written: input["cache_write_tokens"],
    output: usage["output_tokens"],
    reasoning: wire(usage["output_tokens_details"])["reasoning_tokens"],
  });
}

/** Reads a response object: its output and how it ended. */
function answer(body: Wire): AnswerMeaning {
  const says = joined(items(body["output"]).flatMap((item) => itemSays(item).said));
  const usage = usageOf(body["usage"]);
  const usageMember = usage ? { usage } : {};
  if (isWire(body["error"])) return { says, error: text(body["error"]["message"]), ...usageMember };
  const reason = wire(body["incomplete_details"])["reason"];
  const isCall = says.some((said) => isWire(said) && "call" in said);
  const ended = isCall ? "tool_calls" : "stop";
  const finish = reason === "content_filter" ? "content_filter" : "length";
  return { says, finish: body["status"] === "incomplete" ? finish : ended, ...usageMember };
}

export const responsesReader: Reader = {
  request,
  answer,
  stream: (frames) => readResponsesStream(frames, answer),
};
