/**
 * Encodes the canonical form as a generateContent request. Requirements: CONV. Never fails: `fit` has already truncated and removed
 * everything that the protocol cannot carry.
 */
import { inCamelCase } from "../../base/casing.ts";
import type {
  CanonicalRequest,
  JsonObject,
  Message,
  OutputFormat,
  Part,
  Reasoning,
} from "../canonical/request.ts";
import { removeFilteredFields } from "../filter.ts";
import { restoreNative } from "../native.ts";
import { describedSchema } from "../output-format.ts";
import { lookUp } from "../read.ts";
import { encodeParts, encodeUserTurn, type EncodeContext } from "./encode-parts.ts";
import { isOlderGeneration, limits, makesPictures } from "./limits.ts";
import { toVendorSchema } from "./schema.ts";
import { encodeTools } from "./tools.ts";

/** Returns the upstream's body. The path has `model`, the upstream's name, which also decides the form of the thinking settings. */
export function encodeRequest(request: CanonicalRequest, model: string): JsonObject {
  const system = request.messages.filter((message) => message.role === "system");
  const turns = request.messages.filter((message) => message.role !== "system");
  const spoken: EncodeContext = {
    skipsSignature: "nothing",
    namesById: callNames(turns),
    takesAnyUri: request.protocol === "generate_content",
  };
  const models: EncodeContext = { ...spoken, skipsSignature: skippedIn(request, model) };
  const nestsMedia = !isOlderGeneration(model);
  const body: JsonObject = {
    contents: turns.flatMap(({ role, content }) => {
      if (role === "assistant") return [{ role: "model", parts: encodeParts(content, models) }];
      // Callers of this protocol have divided their turns themselves.
      if (request.protocol === "generate_content")
        return [{ role: "user", parts: encodeParts(content, spoken) }];
      return encodeUserTurn(content, spoken, nestsMedia);
    }),
  };
  const instruction = system.flatMap(({ content }) => encodeParts(content, spoken));
  if (instruction.length > 0) body["systemInstruction"] = { parts: instruction };
  encodeTools(request, body);
  const config = encodeConfig(request, model);
  if (Object.keys(config).length > 0) body["generationConfig"] = config;
  if (request.store !== undefined) body["store"] = request.store;
  if (request.protocol === "generate_content") {
    restoreNative(body, request.native, inCamelCase);
    removeFilteredFields(body);
  }
  return body;
}

/** Only history from other protocols can lack the signatures that the vendor requires. */
function skippedIn({ protocol }: CanonicalRequest, model: string): EncodeContext["skipsSignature"] {
  if (protocol === "generate_content" || isOlderGeneration(model)) return "nothing";
  return makesPictures(model) ? "all it said" : "first call";
}

/** Returns the name of each call by id: results of other protocols do not carry it (T22). */
function callNames(turns: readonly Message[]): Map<string, string> {
  const parts: Part[] = turns.flatMap(({ content }) => content);
  return new Map(
    parts.flatMap((part) => (part.type === "tool_call" ? [[part.id, part.name] as const] : [])),
  );
}

function encodeConfig(request: CanonicalRequest, model: string): JsonObject {
  const config: JsonObject = {};
  const set = (name: string, value: number | undefined): void => {
    if (value !== undefined) config[name] = value;
  };
  set("maxOutputTokens", request.maxOutputTokens);
  set("temperature", request.temperature);
  set("topP", request.topP);
  set("topK", request.topK);
  set("seed", request.seed);
  set("presencePenalty", request.presencePenalty);
  set("frequencyPenalty", request.frequencyPenalty);
  if (request.stop !== undefined) config["stopSequences"] = [...request.stop];
  if (request.outputFormat) Object.assign(config, encodeFormat(request.outputFormat, request));
  const thinking = request.reasoning ? encodeThinking(request.reasoning, model) : {};
  if (request.protocol !== "generate_content" && refusesThoughtsAlone(thinking, model))
    thinking["thinkingBudget"] = -1;
  if (Object.keys(thinking).length > 0) config["thinkingConfig"] = thinking;
  return config;
}

function encodeFormat(format: OutputFormat, request: CanonicalRequest): JsonObject {
  switch (format.type) {
    case "text":
      return { responseMimeType: "text/plain" };
    case "json":
      return { responseMimeType: "application/json" };
    case "json_schema": {
      const isOwn = request.protocol === "generate_content";
      const schema = isOwn ? format.schema : toVendorSchema(describedSchema(format));
      return { responseMimeType: "application/json", responseJsonSchema: schema };
    }
  }
}

/** Unlike other models, it reasons only with a budget, and without one refuses to return thoughts. */
const refusesThoughtsAlone = (thinking: JsonObject, model: string): boolean =>
  thinking["includeThoughts"] === true &&
  thinking["thinkingBudget"] === undefined &&
  model.includes("gemini-2.5-flash-lite");

/** Budget and level exclude each other; the budget is more exact. */
function encodeThinking(reasoning: Reasoning, model: string): JsonObject {
  const { budget, effort, summary, includeThoughts } = reasoning;
  const wire: JsonObject = {};
  if (budget !== undefined) wire["thinkingBudget"] = budget === "dynamic" ? -1 : budget;
  else if (effort !== undefined) Object.assign(wire, encodeEffort(effort, model));
  const include = includeThoughts ?? (summary === undefined ? undefined : true);
  if (include !== undefined) wire["includeThoughts"] = include;
  return wire;
}

function encodeEffort(effort: string, model: string): JsonObject {
  const budgets: Readonly<Record<string, number>> = limits.budgetByEffort;
  const levels: Readonly<Record<string, string>> = limits.levelByEffort;
  if (effort === "none" || isOlderGeneration(model)) {
    return { thinkingBudget: lookUp(budgets, effort) ?? limits.budgetByEffort.high };
  }
  // A level that only the upstream knows passes; the upstream may refuse it.
  return { thinkingLevel: lookUp(levels, effort) ?? effort.toUpperCase() };
}
