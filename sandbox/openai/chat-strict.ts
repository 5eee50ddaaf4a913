/** What the openai-like vendor refuses at chat completions, in its own words. Each row is one refusal. */
import { refusedByModel } from "./current-models.ts";
import { entriesOf, firstFailure, refuseWhen, unknownField } from "../checks.ts";
import type { Json } from "../json.ts";
import { asList, asObject, asText } from "../json.ts";
import type { Failure } from "../refusal.ts";
import type { Check } from "../vendor.ts";
import {
  callIdTooLong,
  missingParameter,
  numberLimits,
  outOfRange,
  unknownParameter,
  userTooLong,
  wrongFunctionName,
  wrongFunctionSchema,
} from "./errors.ts";

const fields = new Set([
  "messages",
  "model",
  "max_completion_tokens",
  "max_tokens",
  "temperature",
  "top_p",
  "stop",
  "seed",
  "presence_penalty",
  "frequency_penalty",
  "logit_bias",
  "logprobs",
  "top_logprobs",
  "n",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "response_format",
  "reasoning_effort",
  "verbosity",
  "stream",
  "stream_options",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "service_tier",
  "store",
  "metadata",
  "prediction",
  "moderation",
  "modalities",
  "audio",
  "web_search_options",
  "functions",
  "function_call",
]);

const limits = numberLimits({
  temperature: [0, 2],
  top_p: [0, 1],
  presence_penalty: [-2, 2],
  frequency_penalty: [-2, 2],
  top_logprobs: [0, 20],
  max_tokens: [1, Infinity],
  max_completion_tokens: [1, Infinity],
  n: [1, 128],
});

const roles = ["system", "assistant", "user", "function", "tool", "developer"];
const partTypes = ["text", "image_url", "input_audio", "file", "refusal"];

function wrongMessage([at, message]: [number, Json]): Failure | undefined {
  const role = asText(message["role"]);
  if (!roles.includes(role)) {
    return {
      message: `Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`,
      param: `messages[${at}].role`,
      code: "invalid_value",
    };
  }
  const { content } = message;
  // The vendor's own answers have no content beside calls or a refusal.
  const saysElse =
    asList(message["tool_calls"]).length > 0 ||
    "function_call" in message ||
    asText(message["refusal"]) !== "";
  if ((content ?? null) === null && !(role === "assistant" && saysElse)) {
    return {
      message: "Invalid value for 'content': expected a string, got null.",
      param: `messages.[${at}].content`,
    };
  }
  return firstFailure(entriesOf(content), ([index, part]) =>
    partTypes.includes(asText(part["type"]))
      ? undefined
      : {
          message: `Invalid value: '${asText(part["type"])}'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', and 'file'.`,
          param: `messages[${at}].content[${index}].type`,
          code: "invalid_value",
        },
  );
}

function longCallId([at, message]: [number, Json]): Failure | undefined {
  return firstFailure(entriesOf(message["tool_calls"]), ([index, { id }]) =>
    callIdTooLong(id, `messages[${at}].tool_calls[${index}].id`),
  );
}

/** Each call is answered right after the message that made it, and nothing else is. */
function unpairedTools(body: Json): Failure | undefined {
  let open: string[] = [];
  let openAt = 0;
  for (const [at, message] of entriesOf(body["messages"])) {
    if (message["role"] === "tool") {
      const id = asText(message["tool_call_id"]);
      if (!open.includes(id)) {
        return {
          message:
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          param: `messages.[${at}].role`,
        };
      }
      open = open.filter((one) => one !== id);
      continue;
    }
    if (open.length > 0) return unanswered(open, openAt);
    open = asList(message["tool_calls"]).map((call) => asText(asObject(call)["id"]));
    openAt = at;
  }
  return open.length > 0 ? unanswered(open, openAt) : undefined;
}

const unanswered = (ids: readonly string[], at: number): Failure => ({
  message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(", ")}`,
  param: `messages.[${at + 1}].role`,
});

function wrongTool([at, tool]: [number, Json]): Failure | undefined {
  if (tool["type"] === "custom") return undefined;
  const declared = asObject(tool["function"]);
  if (tool["type"] !== "function" || tool["function"] === undefined) {
    return missingParameter(`tools[${at}].function`);
  }
  const place = `tools[${at}].function`;
  const wrongName = wrongFunctionName(declared, place);
  if (wrongName || declared["parameters"] === undefined) return wrongName;
  return wrongFunctionSchema(declared, place);
}

/** Fields that mean nothing without another one. */
const needs: readonly [name: string, other: string][] = [
  ["tool_choice", "tools"],
  ["parallel_tool_calls", "tools"],
  ["stream_options", "stream"],
  ["top_logprobs", "logprobs"],
];

function alone(body: Json): Failure | undefined {
  const isOn = (name: string) =>
    Array.isArray(body[name]) ? asList(body[name]).length > 0 : Boolean(body[name]);
  const found = needs.find(([name, other]) => (body[name] ?? null) !== null && !isOn(other));
  return (
    found && {
      message: `Invalid value for '${found[0]}': '${found[0]}' is only allowed when '${found[1]}' is specified.`,
      param: found[0],
    }
  );
}

function tooManyStops(body: Json): Failure | undefined {
  const count = asList(body["stop"]).length;
  if (count <= 4) return undefined;
  return {
    message: `Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length ${count} instead.`,
    param: "stop",
    code: "array_above_max_length",
  };
}

function noMessages(body: Json): Failure | undefined {
  if (typeof body["model"] !== "string") return missingParameter("model");
  if (body["messages"] === undefined) return missingParameter("messages");
  if (asList(body["messages"]).length > 0) return undefined;
  return {
    message:
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    param: "messages",
    code: "empty_array",
  };
}

/** Reasoning models take neither the old name of the limit nor sampling. */
function notForReasoners(body: Json): Failure | undefined {
  if (!asText(body["model"]).includes("reasoner")) return undefined;
  const refused = ["max_tokens", "temperature", "top_p", "presence_penalty", "frequency_penalty"];
  const param = refused.find((name) => body[name] !== undefined);
  return (
    (param && {
      message: `Unsupported parameter: '${param}' is not supported with this model.`,
      param,
      code: "unsupported_parameter",
    }) ||
    undefined
  );
}

export const chatStrict: readonly Check[] = [
  refuseWhen(noMessages),
  refuseWhen((body) => unknownParameter(unknownField(body, fields))),
  refuseWhen((body) => outOfRange(body, limits)),
  refuseWhen(userTooLong),
  refuseWhen(tooManyStops),
  refuseWhen(alone),
  refuseWhen(notForReasoners),
  refuseWhen((body) => refusedByModel(body, body["reasoning_effort"], "reasoning_effort")),
  refuseWhen((body) => firstFailure(entriesOf(body["tools"]), wrongTool)),
  refuseWhen((body) => firstFailure(entriesOf(body["messages"]), wrongMessage)),
  refuseWhen((body) => firstFailure(entriesOf(body["messages"]), longCallId)),
  refuseWhen(unpairedTools),
];
