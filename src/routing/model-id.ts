/**
 * Parses a model id as the caller writes it: `vendor/model`, with an optional suffix `:provider` or `:@strategy`. ROUTE-02 to ROUTE-04,
 * RESP-03 to RESP-05.
 */
import { GatewayError } from "../base/errors.ts";
import { modelNameMax } from "../base/text.ts";
import { modelNames, type Catalog, type ModelNames } from "../catalog/index.ts";
import { quoted, unknownModel } from "./unknown-model.ts";

/** Sorting strategies that a request, a key or a workspace may name. */
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

const noNames: ModelNames = { whole: () => undefined, any: () => undefined };

function suffixError(text: string, why: string): GatewayError {
  return new GatewayError("invalid_model_suffix", `The model id "${quoted(text)}" ${why}.`, {
    param: "model",
  });
}

/** The index of the suffix's colon; -1 without a suffix. An alias may contain colons itself, such as `llama3:8b`; an id does not. */
function suffixColon(text: string, slash: number, names: ModelNames): number {
  const last = text.lastIndexOf(":");
  const isName = last > 0 && names.whole(text.slice(0, last)) !== undefined;
  return isName ? last : text.indexOf(":", slash + 1);
}

/**
 * Splits a model id from its suffix. Model ids contain no colon: the suffix follows the first colon after the slash. A second colon
 * combines two suffixes, which is refused (ROUTE-04). An alias becomes the model's id. If an alias contains a colon, the whole text is
 * looked up first, then the text without its last part.
 * @throws GatewayError `invalid_model_suffix`, or `model_not_found` for an id that is not `vendor/model`.
 */
export function parseModelId(
  text: string,
  names: ModelNames = noNames,
  models: Catalog["models"] = new Map(),
): ParsedModelId {
  const whole = names.whole(text);
  if (whole !== undefined) return { model: whole };
  if (text.length > modelNameMax) throw unknownModel(text, { models });
  const slash = text.indexOf("/");
  const colon = suffixColon(text, slash, names);
  const written = colon === -1 ? text : text.slice(0, colon);
  const model = names.any(written) ?? written;
  if (model === written && (slash < 1 || slash === model.length - 1)) {
    throw unknownModel(text, { models }, ": a model id has the form vendor/model");
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

/** As `parseModelId`, with the ids and aliases of a catalogue. @throws as {@link parseModelId} */
export const resolveModelId = (text: string, catalog: Catalog): ParsedModelId =>
  parseModelId(text, modelNames(catalog), catalog.models);
