/**
 * A model id as the caller writes it: `vendor/model`, and after it `:provider` or `:@strategy`.
 * ROUTE-02 to ROUTE-04, RESP-03 to RESP-05.
 */
import { GatewayError } from "../base/errors.ts";

/** Sorting strategies a request, a key or a workspace may name. */
export const strategies = ["price", "latency", "throughput", "balanced"] as const;
export type Strategy = (typeof strategies)[number];

export interface ParsedModelId {
  /** The canonical id, without its suffix. */
  readonly model: string;
  readonly provider?: string | undefined;
  readonly strategy?: Strategy | undefined;
}

const isStrategy = (text: string): text is Strategy =>
  (strategies as readonly string[]).includes(text);

const providerPattern = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

function suffixError(text: string, why: string): GatewayError {
  return new GatewayError("invalid_model_suffix", `The model id "${text}" ${why}.`, {
    param: "model",
  });
}

/**
 * Splits a model id from its suffix. Model ids hold no colon, so whatever follows the first colon after the slash
 * is the suffix; a second colon combines two suffixes, which is refused (ROUTE-04).
 * @throws GatewayError `invalid_model_suffix`, or `model_not_found` for an id that is not `vendor/model`.
 */
export function parseModelId(text: string): ParsedModelId {
  const slash = text.indexOf("/");
  const colon = text.indexOf(":", slash + 1);
  const model = colon === -1 ? text : text.slice(0, colon);
  if (slash < 1 || slash === model.length - 1) {
    const message = `The model "${text}" does not exist: a model id has the form vendor/model.`;
    throw new GatewayError("model_not_found", message, { param: "model" });
  }
  if (colon === -1) return { model };
  const suffix = text.slice(colon + 1);
  if (suffix.includes(":")) {
    throw suffixError(text, "has two suffixes; send either :provider or :@strategy");
  }
  if (suffix.startsWith("@")) {
    const strategy = suffix.slice(1);
    if (isStrategy(strategy)) return { model, strategy };
    throw suffixError(text, `names no known strategy; they are ${strategies.join(", ")}`);
  }
  if (!providerPattern.test(suffix)) throw suffixError(text, "has a malformed suffix");
  return { model, provider: suffix };
}
