/** What the anthropic-like vendor's models of autumn 2026 refuse, in its own words: sampling, budgets, prefill, forced tools. */
import type { Json } from "../json.ts";
import { asList, asObject, asText } from "../json.ts";
import type { Failure } from "../refusal.ts";

/** The ways of thinking that each family takes. */
const thinkingOf: Readonly<Record<string, readonly string[]>> = {
  "claude-opus-5-5": ["adaptive"],
  "claude-sonnet-5-5": ["adaptive", "between_tools"],
};
const efforts = ["low", "medium", "high", "xhigh", "max"];

/** The first thing that a current model refuses in a request; nothing for the models before them. */
export function refusedByModel(body: Json): Failure | undefined {
  const family = Object.keys(thinkingOf).find((name) => asText(body["model"]).startsWith(name));
  if (family === undefined) return undefined;
  const message =
    sampling(body) ?? thinking(body, thinkingOf[family]!) ?? choice(body) ?? prefill(body);
  return message === undefined ? undefined : { message };
}

const sampling = (body: Json): string | undefined => {
  const name = ["temperature", "top_p", "top_k"].find((one) => body[one] !== undefined);
  return name && `\`${name}\` is deprecated for this model.`;
};

function thinking(body: Json, taken: readonly string[]): string | undefined {
  const type = asObject(body["thinking"])["type"];
  if (type !== undefined && !taken.includes(asText(type))) {
    return `"thinking.type.${asText(type)}" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`;
  }
  const { effort } = asObject(body["output_config"]);
  if (effort === undefined || efforts.includes(asText(effort))) return undefined;
  return `output_config.effort: Input should be ${efforts.map((one) => `'${one}'`).join(", ")}`;
}

function choice(body: Json): string | undefined {
  const type = asText(asObject(body["tool_choice"])["type"]);
  if (type !== "any" && type !== "tool") return undefined;
  return `tool_choice.type: '${type}' is not supported for this model.`;
}

function prefill(body: Json): string | undefined {
  const last = asObject(asList(body["messages"]).at(-1));
  if (last["role"] !== "assistant") return undefined;
  return "This model does not support assistant message prefill. The conversation must end with a user message.";
}
