/** What the google-like vendor refuses, in its own words. Each row is one refusal. */
import { entriesOf, firstFailure, unknownField } from "../checks.ts";
import type { Json } from "../json.ts";
import { asList, asNumber, asObject, asText, isObject } from "../json.ts";
import { isSealOf, seal } from "../seal.ts";
import type { Failure } from "../refusal.ts";
import type { Check } from "../vendor.ts";
import { Refusal } from "../refusal.ts";
import { camelFields } from "./fields.ts";
import { bodyFields, configFields, partData, partFields, schemaFields } from "./known-fields.ts";

/** The signature of a call: of its name and arguments, so that one put on another call is found out. */
export const sealedCall = (name: string, args: unknown): string => seal(sealedText(name, args));
const sealedText = (name: string, args: unknown) => `${name} ${JSON.stringify(args ?? {})}`;

/** What the vendor documents for history that has no signature of its own. */
const skipsValidation = new Set([
  "skip_thought_signature_validator",
  "context_engineering_is_the_way_to_go",
]);

const unknownName = (name: string, place: string): Failure => ({
  message: `Invalid JSON payload received. Unknown name "${name}"${place === "" ? "" : ` at '${place}'`}: Cannot find field.`,
  param: place === "" ? name : place,
});

function unknownIn(value: unknown, known: ReadonlySet<string>, place: string): Failure | undefined {
  const name = unknownField(asObject(value), known);
  return name === undefined ? undefined : unknownName(name, place);
}

function wrongConfig(body: Json): Failure | undefined {
  const config = asObject(body["generationConfig"]);
  const unknown = unknownIn(config, configFields, "generation_config");
  if (unknown) return unknown;
  const ranges = { temperature: [0, 2], topP: [0, 1], maxOutputTokens: [1, Infinity] } as const;
  for (const [name, [low, high]] of Object.entries(ranges)) {
    const value = asNumber(config[name]) ?? low;
    if (value >= low && value <= high) continue;
    return {
      message: `Unable to submit request because it has a ${name} value of ${value} but the supported range is from ${low} to ${high}.`,
    };
  }
  const seed = asNumber(config["seed"]) ?? 0;
  if (seed !== Math.trunc(seed) || Math.abs(seed) > 2_147_483_647) {
    return { message: `Invalid value at 'generation_config.seed' (TYPE_INT32), ${seed}` };
  }
  if (asList(config["stopSequences"]).length > 5) {
    return { message: "The number of stop sequences must be at most 5." };
  }
  const thinking = asObject(config["thinkingConfig"]);
  if (thinking["thinkingBudget"] !== undefined && thinking["thinkingLevel"] !== undefined) {
    return { message: "You can only set only one of thinking budget and thinking level." };
  }
  if (config["responseSchema"] !== undefined && config["responseJsonSchema"] !== undefined) {
    return { message: "Only one of response_schema and response_json_schema can be set." };
  }
  return undefined;
}

function wrongContents(body: Json): Failure | undefined {
  const contents = entriesOf(body["contents"]);
  if (contents.length === 0) {
    return { message: "* GenerateContentRequest.contents: contents is not specified\n" };
  }
  return firstFailure(contents, ([at, content]) => {
    const role = content["role"] ?? "user";
    if (role !== "user" && role !== "model" && role !== "function") {
      return { message: "Please use a valid role: user, model." };
    }
    const place = `contents[${at}].parts`;
    const parts = entriesOf(content["parts"]);
    if (parts.length === 0) {
      return {
        message: `* GenerateContentRequest.${place}: contents.parts must not be empty.\n`,
      };
    }
    return firstFailure(parts, ([index, part]) => wrongPart(part, `${place}[${index}]`));
  });
}

function wrongPart(part: Json, place: string): Failure | undefined {
  const unknown = unknownIn(part, partFields, place);
  if (unknown) return unknown;
  if (!partData.some((name) => name in part)) {
    return {
      message: `* GenerateContentRequest.${place}.data: required oneof field 'data' must have one initialized field\n`,
    };
  }
  const nameless = ["functionCall", "functionResponse"].find(
    (name) => name in part && asText(asObject(part[name])["name"]) === "",
  );
  if (nameless === undefined) return undefined;
  const field = nameless === "functionCall" ? "function_call" : "function_response";
  return { message: `* GenerateContentRequest.${place}.${field}.name: Name cannot be empty.\n` };
}

const countOf = (content: Json | undefined, name: string): number =>
  asList(content?.["parts"]).filter((part) => name in asObject(part)).length;

/** A turn with calls is answered by the turn after it, as many responses as calls. */
function unpairedTools(body: Json): Failure | undefined {
  const contents = asList(body["contents"]).map(asObject);
  for (const [at, content] of contents.entries()) {
    const calls = countOf(content, "functionCall");
    const answers = countOf(contents[at + 1], "functionResponse");
    if (calls > 0 && calls !== answers) {
      return {
        message:
          "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
      };
    }
    const isAnswer = countOf(content, "functionResponse") > 0;
    if (isAnswer && countOf(contents[at - 1], "functionCall") === 0) {
      return {
        message:
          "Please ensure that function response turn comes immediately after a function call turn.",
      };
    }
  }
  return undefined;
}

/** From Gemini 3.6 on, a turn with function responses has nothing else. The vendor's own words mislead: the request may end with the user. */
function mixedResponses(body: Json, model: string): Failure | undefined {
  if (!/gemini-(?:3\.(?:[6-9]|\d\d)|[4-9])/.test(model)) return undefined;
  const isMixed = asList(body["contents"])
    .map(asObject)
    .some((content) => {
      const answers = countOf(content, "functionResponse");
      return answers > 0 && answers < asList(content["parts"]).length;
    });
  return isMixed ? { message: "Requests ending with a model turn are not supported." } : undefined;
}

/** On the third generation, each step of the current turn must bring back the signature of its first call. */
function unsignedCall(body: Json, model: string): Failure | undefined {
  if (!model.includes("gemini-3")) return undefined;
  const contents = asList(body["contents"]).map(asObject);
  const start = contents.findLastIndex(
    (content) => content["role"] !== "model" && countOf(content, "functionResponse") === 0,
  );
  for (const [at, content] of contents.entries()) {
    const parts = asList(content["parts"]).map(asObject);
    const first = parts.find((part) => "functionCall" in part);
    if (at < start || !first) continue;
    const signature = asText(first["thoughtSignature"]);
    const { name, args } = asObject(first["functionCall"]);
    if (signature === "") {
      return {
        message: `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. Function call \`${asText(name)}\`, position ${at + 1}.`,
      };
    }
    if (skipsValidation.has(signature)) continue;
    if (!isSealOf(signature, sealedText(asText(name), args))) {
      return { message: "Corrupted thought signature." };
    }
  }
  return undefined;
}

function wrongTools(body: Json): Failure | undefined {
  return firstFailure(entriesOf(body["tools"]), ([at, tool]) =>
    firstFailure(entriesOf(tool["functionDeclarations"]), ([index, declared]) =>
      wrongDeclaration(declared, `tools[${at}].function_declarations[${index}]`),
    ),
  );
}

function wrongDeclaration(declared: Json, place: string): Failure | undefined {
  if (!/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(asText(declared["name"]))) {
    return {
      message: `* GenerateContentRequest.${place}.name: Invalid function name. Must start with a letter or an underscore.\n`,
    };
  }
  const { parameters } = declared;
  if (parameters === undefined) return undefined;
  if (declared["parametersJsonSchema"] !== undefined) {
    return { message: "Only one of parameters and parameters_json_schema can be set." };
  }
  return (
    wrongSchema(parameters, `${place}.parameters`) ??
    (asText(asObject(parameters)["type"]).toLowerCase() === "object"
      ? undefined
      : {
          message: `* GenerateContentRequest.${place}.parameters: functionDeclaration parameters schema should be of type OBJECT.\n`,
        })
  );
}

/** `parameters` is a subset of OpenAPI: JSON Schema keywords outside it are unknown names. */
function wrongSchema(schema: unknown, place: string): Failure | undefined {
  if (!isObject(schema)) return undefined;
  const unknown = unknownIn(schema, schemaFields, place);
  if (unknown) return unknown;
  if (Array.isArray(schema["type"])) {
    return {
      message: `Invalid JSON payload received. Unknown name "type" at '${place}': Proto field is not repeating, cannot start list.`,
      param: place,
    };
  }
  const properties = Object.entries(asObject(schema["properties"]));
  return (
    firstFailure(properties, ([name, inner]) =>
      wrongSchema(inner, `${place}.properties['${name}']`),
    ) ??
    wrongSchema(schema["items"], `${place}.items`) ??
    firstFailure(entriesOf(schema["anyOf"]), ([at, inner]) =>
      wrongSchema(inner, `${place}.any_of[${at}]`),
    )
  );
}

const rows: readonly ((body: Json, model: string) => Failure | undefined)[] = [
  (body) => unknownIn(body, bodyFields, ""),
  wrongConfig,
  wrongContents,
  wrongTools,
  unpairedTools,
  mixedResponses,
  unsignedCall,
];

/** One check for the whole table, because the body is read in camel case once. */
function checkAll({ body, model }: { body: Json; model: string }): void {
  const read = camelFields(body);
  for (const find of rows) {
    const failure = find(read, model);
    if (failure) throw new Refusal(400, failure);
  }
}

export const generateContentStrict: readonly Check[] = [checkAll];
