/** What the openai-like vendor's models of autumn 2026 refuse, in its own words: sampling, and efforts they do not know. */
import type { Json } from "../json.ts";
import { asText } from "../json.ts";
import type { Failure } from "../refusal.ts";

const efforts = ["low", "medium", "high", "xhigh", "max"];
const sampling = ["temperature", "top_p", "top_logprobs", "logprobs"];

/** The first thing that a current model refuses of a request with this effort; nothing for the models before them. */
export function refusedByModel(body: Json, effort: unknown, param: string): Failure | undefined {
  const model = asText(body["model"]);
  if (!/^gpt-6\.[12]/.test(model)) return undefined;
  const name = sampling.find((one) => body[one] !== undefined);
  if (name !== undefined) {
    const message = `Unsupported parameter: '${name}' is not supported with this model.`;
    return { message, param: name, code: "unsupported_parameter" };
  }
  if (effort === undefined || efforts.includes(asText(effort))) return undefined;
  const known = efforts.map((one) => `'${one}'`).join(", ");
  const message = `Unsupported value: '${asText(effort)}' is not supported with the '${model}' model. Supported values are: ${known}.`;
  return { message, param, code: "unsupported_value" };
}
