/** `POST /bedrock/runtime/model/MODEL/count-tokens`: the request stands within, as Converse has it or as the bytes for `invoke`. */
import { inputTokens } from "../conversation.ts";
import { asObject, asText, type Json } from "../json.ts";
import { Refusal } from "../refusal.ts";
import type { Call, Endpoint, Route } from "../vendor.ts";
import { converse } from "./converse.ts";

const counted = new Set(["messages", "system", "toolConfig", "additionalModelRequestFields"]);

const refuse = (message: string): never => {
  throw new Refusal(400, { message, type: "ValidationException" });
};

/** The bytes of a body, in base64. */
function bodyIn(text: string): Json {
  try {
    return asObject(JSON.parse(Buffer.from(text, "base64").toString()));
  } catch {
    return refuse("Malformed input request, please reformat your input and try again.");
  }
}

/** The route for one model; `claude` is what `invoke` speaks. */
export function countTokens(model: string, claude: Endpoint): Route {
  const count = (endpoint: Endpoint, call: Call): Json => {
    for (const check of endpoint.strict) check(call);
    return { inputTokens: inputTokens(endpoint.question(call)) };
  };
  return {
    kind: "json",
    answer(call) {
      const input = asObject(call.body["input"]);
      const names = Object.keys(input);
      if (Object.keys(call.body).join() !== "input" || names.length !== 1)
        return refuse("Exactly one of invokeModel, converse must be set for input.");
      const asked = { ...call, model, stream: false };
      if (names[0] === "invokeModel") {
        const body = bodyIn(asText(asObject(input["invokeModel"])["body"]));
        return count(claude, { ...asked, body });
      }
      const body = asObject(input["converse"]);
      const extra = Object.keys(body).find((name) => !counted.has(name));
      if (extra !== undefined) return refuse(`${extra}: Extra inputs are not permitted`);
      return count(converse, { ...asked, body });
    },
  };
}
