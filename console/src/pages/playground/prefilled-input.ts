/** Extracts the system text and the last message of a stored call, in any protocol, to resend it. Pure. */
import type { Protocol } from "../../base/code.ts";

export interface PrefilledInput {
  readonly system: string;
  readonly said: string;
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

/** The text of a message or of its parts; images have none. */
function textIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textIn).filter(Boolean).join("\n");
  return isFields(value) ? textIn(value["text"] ?? value["parts"] ?? value["content"] ?? "") : "";
}

const withRole = (messages: unknown, ...roles: readonly string[]): unknown[] =>
  Array.isArray(messages)
    ? messages.filter(
        (one) => isFields(one) && roles.some((role) => role === (one["role"] ?? "user")),
      )
    : [];

const lastIn = (messages: unknown): string =>
  typeof messages === "string" ? messages : textIn(withRole(messages, "user").at(-1));

const readers: Readonly<Record<Protocol, (body: Fields) => PrefilledInput>> = {
  chat: ({ messages }) => ({
    system: textIn(withRole(messages, "system", "developer")),
    said: lastIn(messages),
  }),
  responses: ({ instructions, input }) => ({ system: textIn(instructions), said: lastIn(input) }),
  messages: ({ system, messages }) => ({ system: textIn(system), said: lastIn(messages) }),
  generate_content: ({ systemInstruction, system_instruction: other, contents }) => ({
    system: textIn(systemInstruction ?? other),
    said: lastIn(contents),
  }),
};

/** The text to fill in; undefined if the body cannot be parsed, for example because it was truncated. */
export function prefilledInputOf(
  protocol: Protocol,
  request: string | null,
): PrefilledInput | undefined {
  try {
    const body: unknown = JSON.parse(request ?? "");
    const prefilled = isFields(body) ? readers[protocol](body) : undefined;
    return prefilled?.said === "" ? undefined : prefilled;
  } catch {
    return undefined;
  }
}
