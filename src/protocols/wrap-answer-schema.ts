/**
 * OpenAI refuses an answer schema without an object at its root, such as Google's lists. The schema is put in an object, and the answer is
 * taken out of it. CONV-211, CONV-310.
 */
import { exactText } from "../base/exact-numbers.ts";
import type { CanonicalRequest, JsonObject, Part } from "./canonical/request.ts";
import type { UpstreamCodec } from "./codec.ts";
import { bufferBlocks } from "./buffer-blocks.ts";
import type { Limits } from "./limits.ts";
import { objectRoot } from "./object-root.ts";
import { withItems } from "./open-lists.ts";
import { mapSchemas } from "./schema-walk.ts";
import { objectIn } from "./tool-arguments.ts";
import { unchanged, type RequestRewrite } from "./request-rewrite.ts";

/** The only member of the object. */
const member = "answer";

/** Puts the answer schema in an object if the target accepts nothing else. */
export function wrapAnswerSchema(request: CanonicalRequest, limits: Limits): RequestRewrite {
  const { outputFormat: format, names } = request;
  const mustWrap = limits.answerNeedsObjectRoot === true && format?.type === "json_schema";
  if (!mustWrap) return unchanged(request);
  const given = limits.listsNeedItems === true ? withItems(format.schema) : format.schema;
  const schema = withObjectRoot(given);
  if (schema) return unchanged({ ...request, outputFormat: { ...format, schema } });
  return {
    request: { ...request, outputFormat: { ...format, schema: wrapSchema(given) } },
    notes: [
      {
        param: names.outputFormat ?? "outputFormat",
        kind: "rewritten",
        detail:
          "the upstream answers with objects only: the schema went within one, and the answer is taken out",
      },
    ],
    wrapCodec: unwrapAnswers,
  };
}

/**
 * Returns a schema with an object at its root: itself, or the target of its root `$ref`. Undefined if the root is no object, or a choice.
 */
function withObjectRoot(schema: JsonObject): JsonObject | undefined {
  if (!isObjectSchema(schema)) return undefined;
  if (!("$ref" in schema)) return schema;
  const root = objectRoot(schema);
  if (typeof root === "string" || root.lost.length > 0) return undefined;
  return "$ref" in root.schema ? schema : root.schema;
}

/** A schema without a type is left to the vendor, unless it is a choice or an `enum`. */
function isObjectSchema({ type, anyOf, oneOf, enum: values }: JsonObject): boolean {
  if (anyOf !== undefined || oneOf !== undefined || values !== undefined) return false;
  return type === undefined || type === "object";
}

const definitionPlaces = ["$defs", "definitions"] as const;

/** References resolve from the root, so the definitions stay there. */
function wrapSchema(schema: JsonObject): JsonObject {
  const { $schema: dialect, ...inner } = moveReferences(schema);
  const outer: JsonObject = dialect === undefined ? {} : { $schema: dialect };
  for (const place of definitionPlaces) {
    const definitions = inner[place];
    if (definitions === undefined) continue;
    outer[place] = definitions;
    delete inner[place];
  }
  return {
    type: "object",
    properties: { [member]: inner },
    required: [member],
    additionalProperties: false,
    ...outer,
  };
}

/** Adjusts references that do not point into the definitions: their targets move into the member. */
function moveReferences(schema: JsonObject): JsonObject {
  const { $ref: reference } = schema;
  const moves =
    typeof reference === "string" &&
    /^#(?:$|\/)/.test(reference) &&
    !/^#\/(?:\$defs|definitions)\//.test(reference);
  const moved: JsonObject = moves ? { $ref: `#/properties/${member}${reference.slice(1)}` } : {};
  return { ...mapSchemas(schema, moveReferences), ...moved };
}

const unwrapAnswers = (upstream: UpstreamCodec): UpstreamCodec => ({
  ...upstream,
  decodeResponse(body) {
    const response = upstream.decodeResponse(body);
    return { ...response, content: response.content.map(unwrapPart) };
  },
  decodeStream: () =>
    bufferBlocks(upstream.decodeStream(), ({ type }) =>
      type === "text_start" ? unwrapAnswer : undefined,
    ),
});

const unwrapPart = (part: Part): Part =>
  part.type === "text" ? { ...part, text: unwrapAnswer(part.text) } : part;

/** The start of the object, to cut from an answer that the token limit truncated. */
const wrapperStart = new RegExp(String.raw`^\s*\{\s*"${member}"\s*:\s*`);

/** Returns the value in the object; any other text unchanged. */
function unwrapAnswer(text: string): string {
  const object = objectIn(text);
  if (object === undefined) return text.replace(wrapperStart, "");
  const [only, ...others] = Object.keys(object);
  return only === member && others.length === 0 ? exactText(object[member]) : text;
}
