/** The error for a field that cannot be converted and carries content. CONV-101 to CONV-113; trap T33. */
import { GatewayError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import type { ProtocolName } from "./canonical/request.ts";
import type { Loss } from "./losses.ts";

/** The refused field; `value` is as received, and its kind is named if there are several. */
interface RefusedField {
  readonly param: string;
  readonly value?: unknown;
}

/** Returns the error for a refused field: `unsupported_content` in the conversation, otherwise `unsupported_parameter`. */
export function refusalOf(
  protocol: ProtocolName,
  { param, value }: RefusedField,
  { what, remedy = "Leave it out" }: Pick<Loss, "what" | "remedy">,
): GatewayError {
  const code = /^(?:messages|input|contents|system)/.test(param)
    ? "unsupported_content"
    : "unsupported_parameter";
  const kind = kindNamed(protocol, value);
  const field = kind === undefined ? param : `${param} (${kind})`;
  return new GatewayError(
    code,
    `${field} cannot be converted for this model's provider: ${what}. ${remedy}, or choose a model whose provider speaks ${protocolTitles[protocol]}.`,
    { param },
  );
}

/** Names of the protocols in a sentence. */
export const protocolTitles: Readonly<Record<ProtocolName, string>> = {
  chat: "chat completions",
  responses: "the responses protocol",
  messages: "the messages protocol",
  generate_content: "generateContent",
};

const shortName = /^[\w.:-]{1,60}$/;
/** Members that stand beside the content of a part. */
const besideContent = new Set(["thought", "thoughtSignature", "thought_signature", "text"]);

/** The kind of an item, part or tool as the caller wrote it: its type, or in generateContent the member with its content. */
function kindNamed(protocol: ProtocolName, value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  const kind =
    protocol === "generate_content"
      ? Object.keys(value).find((name) => !besideContent.has(name))
      : value["type"];
  return typeof kind === "string" && shortName.test(kind) ? kind : undefined;
}
