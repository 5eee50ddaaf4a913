/** `POST /openai/v1/responses` as the vendor speaks it: how it reads items, and the response object it answers with. */
import { newId } from "../../src/base/ids.ts";
import type { Answer } from "../answer.ts";
import { readContent, type Question, type Turn } from "../conversation.ts";
import type { Json } from "../json.ts";
import { asList, asNumber, asObject, asText, isObject } from "../json.ts";
import { seal } from "../seal.ts";
import type { Failure } from "../refusal.ts";
import type { Call, Endpoint } from "../vendor.ts";
import { responsesStrict } from "./responses-strict.ts";
import { brokenFrames, responseFrames } from "./responses-stream.ts";

const noTurn: Turn = { role: "user", text: "", images: 0, calls: 0, results: [] };

/** One item as a turn; undefined for those that say nothing (reasoning, references). */
function readItem(item: Json): Turn | undefined {
  switch (item["type"] ?? "message") {
    case "message": {
      const role = asText(item["role"]);
      const known = role === "assistant" || role === "user" ? role : "system";
      return { ...noTurn, role: known, ...readContent(item["content"], "input_image") };
    }
    case "function_call":
      return { ...noTurn, role: "assistant", calls: 1 };
    case "function_call_output": {
      const { text, images } = readContent(item["output"], "input_image");
      return { ...noTurn, images, results: [text] };
    }
    default:
      return undefined;
  }
}

/** Parallel calls are items of their own here; together they are one turn of the assistant. */
function readInput(input: unknown): Turn[] {
  if (typeof input === "string") return [{ ...noTurn, text: input }];
  const turns: Turn[] = [];
  for (const item of asList(input)) {
    const turn = readItem(asObject(item));
    const last = turns.at(-1);
    if (!turn) continue;
    if (turn.role === "assistant" && last?.role === "assistant") {
      turns[turns.length - 1] = { ...last, calls: last.calls + turn.calls };
    } else turns.push(turn);
  }
  return turns;
}

function readToolChoice(choice: unknown): Question["toolChoice"] {
  if (choice === "none" || choice === "required") return choice;
  if (!isObject(choice)) return "auto";
  if (choice["type"] === "function") return { name: asText(choice["name"]) };
  return choice["mode"] === "required" ? "required" : "auto";
}

function readFormat(format: Json): Question["json"] {
  if (format["type"] === "json_object") return {};
  return format["type"] === "json_schema" ? { schema: asObject(format["schema"]) } : undefined;
}

function question({ body }: Call): Question {
  const instructions = asText(body["instructions"]);
  const turns = readInput(body["input"]);
  const effort = asObject(body["reasoning"])["effort"];
  return {
    turns:
      instructions === "" ? turns : [{ ...noTurn, role: "system", text: instructions }, ...turns],
    tools: asList(body["tools"])
      .map(asObject)
      .filter((tool) => tool["type"] === "function")
      .map((tool) => ({ name: asText(tool["name"]), schema: asObject(tool["parameters"]) })),
    toolChoice: readToolChoice(body["tool_choice"]),
    stop: [],
    maxTokens: asNumber(body["max_output_tokens"]),
    reasoning: (typeof effort === "string" && effort !== "none") || "reasoning" in body,
    json: readFormat(asObject(asObject(body["text"])["format"])),
  };
}

/** The output items in order; the last one is incomplete when the answer is. */
function outputItems(call: Call, answer: Answer): Json[] {
  const encrypts = asList(call.body["include"]).includes("reasoning.encrypted_content");
  const items: Json[] = [];
  if (answer.reasoning !== "") {
    items.push({
      id: newId("rs"),
      type: "reasoning",
      summary: [{ type: "summary_text", text: answer.reasoning }],
      ...(encrypts ? { encrypted_content: seal(answer.reasoning) } : {}),
    });
  }
  const status = answer.finish === "length" ? "incomplete" : "completed";
  if (answer.text !== "" || answer.calls.length === 0) {
    const part = { type: "output_text", annotations: [], logprobs: [], text: answer.text };
    items.push({ id: newId("msg"), type: "message", status, role: "assistant", content: [part] });
  }
  for (const { name, arguments: given } of answer.calls) {
    items.push({
      id: newId("fc"),
      type: "function_call",
      status: "completed",
      call_id: newId("call"),
      name,
      arguments: JSON.stringify(given),
    });
  }
  return items;
}

function usageJson(answer: Answer): Json | null {
  if (!answer.usage) return null;
  const { input, output, cacheRead, cacheWrite, reasoning } = answer.usage;
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: cacheRead,
      ...(cacheWrite > 0 ? { cache_write_tokens: cacheWrite } : {}),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

const echoedTool = (tool: Json): Json =>
  tool["type"] === "function"
    ? { description: null, parameters: null, strict: null, ...tool }
    : tool;

/** What the response object repeats of the request, and what it says where the request says nothing. */
const echoDefaults: Json = {
  background: false,
  frequency_penalty: 0,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  presence_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  safety_identifier: null,
  store: true,
  temperature: 1,
  tool_choice: "auto",
  top_logprobs: 0,
  top_p: 1,
  truncation: "disabled",
  user: null,
};

function echoedFields({ body }: Call): Json {
  const echoed = Object.entries(echoDefaults).map(([name, usual]) => [name, body[name] ?? usual]);
  return {
    ...Object.fromEntries(echoed),
    reasoning: { effort: null, summary: null, ...asObject(body["reasoning"]) },
    service_tier: "default",
    text: { format: { type: "text" }, verbosity: "medium", ...asObject(body["text"]) },
    tools: asList(body["tools"]).map((tool) => echoedTool(asObject(tool))),
  };
}

const incompleteReasons: Readonly<Record<string, string>> = {
  length: "max_output_tokens",
  content_filter: "content_filter",
};

/** What an answer's end means here: status, why it is incomplete, what failed. */
function ending(answer: Answer): Json {
  const reason = incompleteReasons[answer.finish];
  if (reason) return { status: "incomplete", incomplete_details: { reason } };
  if (answer.finish !== "failed") return { status: "completed" };
  const error = { code: "server_error", message: "The sandbox was told to fail." };
  return { status: "failed", error };
}

function render(call: Call, answer: Answer): ReturnType<Endpoint["render"]> {
  const begun: Json = {
    id: newId("resp"),
    object: "response",
    created_at: answer.createdSeconds,
    completed_at: null,
    status: "in_progress",
    error: null,
    incomplete_details: null,
    model: answer.model,
    output: [],
    ...echoedFields(call),
    usage: null,
  };
  const output = outputItems(call, answer);
  const finished: Json = {
    ...begun,
    completed_at: ending(answer)["status"] === "completed" ? answer.createdSeconds : null,
    ...ending(answer),
    output,
    usage: usageJson(answer),
  };
  return {
    whole: () => finished,
    frames: () => responseFrames({ begun, finished, output, chunkChars: answer.chunkChars }),
    errorFrames: (failure: Failure, sent: number) => brokenFrames(begun, failure, sent),
  };
}

export const responses: Endpoint = {
  name: "responses",
  strict: responsesStrict,
  question,
  render,
};
