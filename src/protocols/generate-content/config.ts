/** Decodes `generationConfig` into canonical fields. Requirements: CONV. */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import type { JsonObject, OutputFormat, Reasoning } from "../canonical/request.ts";
import { keepUnknown } from "../native.ts";
import type { Fields, Gathered as GatheredFields, Mutable } from "../read.ts";
import { read, spelling } from "./names.ts";
import { fromVendorSchema } from "./from-schema.ts";

/** Data collected beside the fields themselves. */
export interface Gathered extends GatheredFields {
  /** Top-level names that have been read, in the caller's spelling. */
  readonly used: Set<string>;
}

const plain = {
  maxOutputTokens: "maxOutputTokens",
  temperature: "temperature",
  topP: "topP",
  topK: "topK",
  stopSequences: "stop",
  seed: "seed",
  presencePenalty: "presencePenalty",
  frequencyPenalty: "frequencyPenalty",
} as const;

export function decodeConfig(body: WireObject, gathered: Gathered): Fields {
  const config = read(body, "generationConfig");
  if (!isObject(config)) return {};
  const prefix = spelling(body, "generationConfig");
  gathered.used.add(prefix);
  const fields: WireObject = {};
  const used = new Set<string>();
  for (const [wireName, name] of Object.entries(plain)) {
    const value = read(config, wireName);
    if (value === undefined) continue;
    const spelled = spelling(config, wireName);
    fields[name] = value;
    gathered.names[name] = `${prefix}.${spelled}`;
    used.add(spelled);
  }
  const format = decodeFormat(config, prefix, { gathered, used });
  if (format) fields["outputFormat"] = format;
  const reasoning = decodeThinking(config, prefix, { gathered, used });
  if (reasoning) fields["reasoning"] = reasoning;
  keepUnknown(config, used, prefix, gathered.native);
  return fields;
}

interface Within {
  readonly gathered: Gathered;
  /** Names in the config that have been read. */
  readonly used: Set<string>;
}

/** A schema counts only with the JSON type, as at the vendor. Types other than JSON and text stay native fields. */
function decodeFormat(
  config: WireObject,
  prefix: string,
  { gathered, used }: Within,
): OutputFormat | undefined {
  const mimeType = read(config, "responseMimeType");
  if (mimeType !== "application/json" && mimeType !== "text/plain") return undefined;
  const typeName = spelling(config, "responseMimeType");
  used.add(typeName);
  gathered.names.outputFormat = `${prefix}.${typeName}`;
  if (mimeType === "text/plain") return { type: "text" };
  for (const name of ["responseJsonSchema", "responseSchema"]) {
    const schema = read(config, name);
    if (!isObject(schema)) continue;
    const spelled = spelling(config, name);
    used.add(spelled);
    gathered.names["outputFormat.type"] = gathered.names.outputFormat;
    gathered.names.outputFormat = `${prefix}.${spelled}`;
    return {
      type: "json_schema",
      schema:
        name === "responseSchema"
          ? fromVendorSchema(exactTwinOf(schema))
          : (exactTwinOf(schema) as JsonObject),
    };
  }
  return { type: "json" };
}

/** The vendor's word for an unset level. */
const unspecified = "THINKING_LEVEL_UNSPECIFIED";

function decodeThinking(
  config: WireObject,
  prefix: string,
  { gathered, used }: Within,
): Reasoning | undefined {
  const thinking = read(config, "thinkingConfig");
  if (!isObject(thinking)) return undefined;
  const { names, native } = gathered;
  const path = `${prefix}.${spelling(config, "thinkingConfig")}`;
  used.add(spelling(config, "thinkingConfig"));
  const known = new Set<string>();
  const named = (name: string): string => {
    known.add(spelling(thinking, name));
    return `${path}.${spelling(thinking, name)}`;
  };
  const reasoning: Mutable<Reasoning> = {};
  const include = read(thinking, "includeThoughts");
  if (typeof include === "boolean") {
    reasoning.includeThoughts = include;
    names["reasoning.includeThoughts"] = named("includeThoughts");
  }
  const budget = read(thinking, "thinkingBudget");
  if (typeof budget === "number") {
    reasoning.budget = budget === -1 ? "dynamic" : budget;
    names["reasoning.budget"] = named("thinkingBudget");
  }
  const level = read(thinking, "thinkingLevel");
  if (level === unspecified) named("thinkingLevel");
  else if (typeof level === "string") {
    reasoning.effort = level.toLowerCase();
    names["reasoning.effort"] = named("thinkingLevel");
  }
  keepUnknown(thinking, known, path, native);
  return Object.keys(reasoning).length > 0 ? reasoning : undefined;
}
