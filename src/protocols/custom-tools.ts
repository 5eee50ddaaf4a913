/**
 * Custom tools of the OpenAI-style protocols: the input is one text, which a grammar may constrain. Codex patches files with one. CONV,
 * T33.
 */
import { isObject, type WireObject } from "../base/json.ts";
import type {
  CustomFormat,
  JsonObject,
  NativeField,
  Tool,
  ToolCallPart,
} from "./canonical/request.ts";
import { keepUnknown, keepUnknownIn } from "./native.ts";
import { member, nonEmpty, objectOf } from "./read.ts";

/** The path of a custom tool's declaration, and the member that nests the grammar; absent: not nested. */
interface CustomPlace {
  readonly param: string;
  readonly native: NativeField[];
  readonly within?: "grammar";
}

const declarationKeys = ["name", "description"];

/** Decodes the declaration of a custom tool; undefined if it has no name. */
export function decodeCustomTool(wire: WireObject, place: CustomPlace): Tool | undefined {
  const { name, description, format: wished } = wire;
  if (nonEmpty(name) === undefined) return undefined;
  const format = isObject(wished) ? decodeFormat(wished, place) : undefined;
  const known = new Set([...declarationKeys, ...(format ? ["format"] : [])]);
  keepUnknown(wire, known, place.param, place.native);
  return {
    name: String(name),
    ...(typeof description === "string" ? { description } : {}),
    custom: format ? { format } : {},
  };
}

const textKeys = new Set(["type"]);
const grammarKeys = ["syntax", "definition"];

function decodeFormat(wire: WireObject, { param, native, within }: CustomPlace) {
  const place = `${param}.format`;
  const { type } = wire;
  if (type === "text") {
    keepUnknown(wire, textKeys, place, native);
    return { type } as const;
  }
  const { syntax, definition } = within ? objectOf(wire[within]) : wire;
  if (type !== "grammar" || typeof syntax !== "string" || typeof definition !== "string")
    return undefined;
  keepUnknown(wire, new Set(["type", ...(within ? [within] : grammarKeys)]), place, native);
  if (within) keepUnknownIn(wire, within, { known: new Set(grammarKeys), prefix: place, native });
  return { type, syntax, definition } as const;
}

/** Encodes the declaration of a custom tool. `within`: see `CustomPlace`. */
export const encodeCustomTool = (
  { name, description, custom }: Tool,
  within?: CustomPlace["within"],
): JsonObject => ({
  name,
  ...member("description", description),
  ...member("format", custom?.format && encodeFormat(custom.format, within)),
});

function encodeFormat(format: CustomFormat, within: CustomPlace["within"]): JsonObject {
  if (format.type === "text") return { type: format.type };
  const { type, syntax, definition } = format;
  const grammar = { syntax, definition };
  return within ? { type, [within]: grammar } : { type, ...grammar };
}

/** Decodes a call of a custom tool; undefined if it has no name. */
export function decodeCustomCall(
  id: unknown,
  { name, input }: WireObject,
): ToolCallPart | undefined {
  if (typeof name !== "string") return undefined;
  const text = nonEmpty(input) ?? "";
  return { type: "tool_call", id: String(id), name, arguments: text, custom: true };
}
