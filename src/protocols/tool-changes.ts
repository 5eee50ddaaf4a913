/**
 * What turns say of the tools from there on, and turns that are shown for a while only: messages and responses alone have them. The next
 * answer is what a request asks for, so every other target gets the tools that there are at the conversation's end, and no turn whose
 * time is over. Pure. CONV; T33.
 */
import type { Note } from "../base/notes.ts";
import type { CanonicalRequest, Tool } from "./canonical/request.ts";
import { toolKey } from "./function-tools.ts";

interface Applied {
  readonly request: CanonicalRequest;
  readonly notes: readonly Note[];
}

/** Applies what the turns of a request say. */
export function applyTurns(said: CanonicalRequest): Applied {
  const request = withoutPassed(said);
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

/** A function and a custom tool of one name are two (responses). */
const keyOf = ({ name, namespace, custom }: Tool): string =>
  `${custom ? "custom" : "function"} ${toolKey(name, namespace?.name)}`;

/** Turns name tools of messages, where all are functions and none is within a namespace. */
const named = (name: string): string => keyOf({ name });

function toolsAtEnd({ tools = [], toolChanges = [] }: CanonicalRequest): Tool[] {
  const known = new Map(tools.map((tool) => [keyOf(tool), tool]));
  const offered = new Map(known);
  for (const { added = [], offered: again = [], removed = [] } of toolChanges) {
    for (const tool of added) {
      known.set(keyOf(tool), tool);
      offered.set(keyOf(tool), tool);
    }
    for (const name of again) {
      const tool = known.get(named(name));
      if (tool) offered.set(keyOf(tool), tool);
    }
    for (const name of removed) offered.delete(named(name));
  }
  return [...offered.values()];
}

/**
 * Leaves out turns that say nothing to the model by now: those that were shown until a user's next turn, as their own protocol does, and
 * those that held nothing but changes of tools.
 */
function withoutPassed(request: CanonicalRequest): CanonicalRequest {
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
