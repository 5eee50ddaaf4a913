/**
 * Applies changes of tools within the conversation, and removes turns with a limited time. Only messages and responses have them. Other
 * targets get the tools as of the conversation's end, which the next answer needs, and no expired turn. Pure. CONV; T33.
 */
import type { Note } from "../base/notes.ts";
import type { CanonicalRequest, Tool } from "./canonical/request.ts";
import { toolKey } from "./function-tools.ts";

interface Applied {
  readonly request: CanonicalRequest;
  readonly notes: readonly Note[];
}

/** Applies the tool changes and expired turns of a request. */
export function applyToolChanges(said: CanonicalRequest): Applied {
  const request = withoutExpiredTurns(said);
  const { toolChanges = [], native } = request;
  if (toolChanges.length === 0) return { request, notes: [] };
  const applied = new Set(toolChanges.map(({ param }) => param));
  const tools = toolsAtEnd(request);
  return {
    request: {
      ...request,
      ...(tools.length > 0 || request.tools ? { tools } : {}),
      toolChanges: undefined,
      native: [
        ...native.filter(({ param }) => !applied.has(param)),
        ...toolChanges.flatMap(({ native: others = [] }) => others),
      ],
    },
    notes: [...applied].map((param) => ({ param, kind: "rewritten", detail })),
  };
}

const detail =
  "the upstream takes tools with the request only: it is offered those that there are at the conversation's end";

/** A function and a custom tool with the same name are different (responses). */
const keyOf = ({ name, namespace, custom }: Tool): string =>
  `${custom ? "custom" : "function"} ${toolKey(name, namespace?.name)}`;

/** Turns refer to tools by name only in messages, where all are functions without a namespace. */
const keyOfName = (name: string): string => keyOf({ name });

function toolsAtEnd({ tools = [], toolChanges = [] }: CanonicalRequest): Tool[] {
  const known = new Map(tools.map((tool) => [keyOf(tool), tool]));
  const offered = new Map(known);
  for (const { added = [], offered: again = [], removed = [] } of toolChanges) {
    for (const tool of added) {
      known.set(keyOf(tool), tool);
      offered.set(keyOf(tool), tool);
    }
    for (const name of again) {
      const tool = known.get(keyOfName(name));
      if (tool) offered.set(keyOf(tool), tool);
    }
    for (const name of removed) offered.delete(keyOfName(name));
  }
  return [...offered.values()];
}

/**
 * Removes turns that no longer matter to the model: those shown only until the next user turn (as in their own protocol), and those with
 * only tool changes.
 */
function withoutExpiredTurns(request: CanonicalRequest): CanonicalRequest {
  const { messages, native } = request;
  const places = new Set(messages.map(({ clearedAt }) => clearedAt));
  const lastOfUser = messages.findLastIndex(({ role }) => role === "user");
  return {
    ...request,
    messages: messages.filter(
      ({ role, content, clearedAt }, index) =>
        role !== "system" ||
        (content.length > 0 && (clearedAt === undefined || index > lastOfUser)),
    ),
    native: native.filter(({ param }) => !places.has(param)),
  };
}
