/**
 * Tools within namespaces, which responses alone has: Codex sends those of an MCP server so. Every other target gets them as tools of
 * their own, `<namespace>__<name>`, and the answer's calls name the two apart again. Pure; the same tools have the same names in every
 * turn, whatever was called by then, and no two have the same. CONV; T33.
 */
import type {
  CanonicalRequest,
  Message,
  Tool,
  ToolCallPart,
  ToolChoice,
  ToolNamespace,
  ToolWithin,
} from "./canonical/request.ts";
import { toolKey } from "./function-tools.ts";
import { hashedName } from "./legal-name.ts";
import { callsNamed, noteOfTools } from "./tool-names.ts";
import { unchanged, type Rewritten } from "./rewritten.ts";

/** Takes the tools of a request out of their namespaces, and the calls so far. */
export function outOfNamespaces(request: CanonicalRequest): Rewritten {
  const { tools, toolChoice, messages } = request;
  if (!hasNamespaces(request)) return unchanged(request);
  const names = new FlatNames(request);
  const choice = toolChoice && flatChoice(toolChoice, names);
  return {
    request: {
      ...request,
      messages: messages.map((message) => callingFlat(message, names)),
      ...(tools ? { tools: flatTools(tools, names, choice) } : {}),
      ...(choice ? { toolChoice: choice } : {}),
    },
    notes: [
      noteOfTools(
        request,
        (tools ?? []).some(({ namespace }) => namespace),
        "tools within namespaces went as tools of their own, `<namespace>__<name>`; calls are of your own tools",
      ),
    ],
    restored: (upstream) => callsNamed(upstream, (name) => names.own(name) ?? { name }),
  };
}

const hasNamespaces = ({ tools = [], messages, toolChoice }: CanonicalRequest): boolean =>
  tools.some(({ namespace }) => namespace !== undefined) ||
  messages.some(({ content }) =>
    content.some((part) => part.type === "tool_call" && part.namespace !== undefined),
  ) ||
  chosen(toolChoice).length > 0;

/** The names of a request's tools outside their namespaces. Those that it offers do not depend on those that were only called. */
class FlatNames {
  readonly #names = new Map<string, string>();
  readonly #owns = new Map<string, ToolWithin>();
  /** Names of tools within none, and by their own names those of which one namespace has one. */
  readonly #plain: ReadonlySet<string>;
  readonly #bare: ReadonlyMap<string, ToolWithin>;

  constructor({ tools = [], messages, toolChoice }: CanonicalRequest) {
    this.#plain = new Set(tools.flatMap(({ name, namespace }) => (namespace ? [] : [name])));
    const offered = tools.map(({ name, namespace }) => ({ name, namespace: namespace?.name }));
    const those = distinct(offered.flatMap(within));
    const taken = new Set([...this.#plain, ...twice(those.map(joined))]);
    for (const tool of those) this.#add(tool, taken);
    const several = new Set(twice(those.map(({ name }) => name)));
    this.#bare = new Map(
      those.flatMap((tool) => (several.has(tool.name) ? [] : [[tool.name, tool] as const])),
    );
    const called = messages.flatMap(({ content }) =>
      content.flatMap((part) => (part.type === "tool_call" ? within(part) : [])),
    );
    for (const tool of [...called, ...chosen(toolChoice)]) this.#add(tool, taken);
  }

  of({ name, namespace }: ToolWithin): string {
    return this.#names.get(toolKey(name, namespace))!;
  }

  /** What the caller calls it; undefined for a tool that is within no namespace. */
  own(flat: string): ToolWithin | undefined {
    return this.#owns.get(flat);
  }

  /** The name of a tool that a choice names without its namespace: its own, or, where one alone is within any, that one's. */
  ofBare(name: string): string {
    const one = this.#plain.has(name) ? undefined : this.#bare.get(name);
    return one ? this.of(one) : name;
  }

  #add(tool: ToolWithin, taken: Set<string>): void {
    const key = toolKey(tool.name, tool.namespace);
    if (this.#names.has(key)) return;
    const plain = joined(tool);
    const name = taken.has(plain) ? hashedName(plain, key, taken) : plain;
    taken.add(name);
    this.#names.set(key, name);
    this.#owns.set(name, { name: tool.name, namespace: tool.namespace });
  }
}

const within = ({ name, namespace }: Pick<ToolCallPart, "name" | "namespace">): ToolWithin[] =>
  namespace === undefined ? [] : [{ name, namespace }];

function chosen(choice: ToolChoice | undefined): readonly ToolWithin[] {
  if (choice?.type === "tool") return within(choice);
  return choice?.type === "allowed" ? (choice.within ?? []) : [];
}

const distinct = (tools: readonly ToolWithin[]): ToolWithin[] => [
  ...new Map(tools.map((tool) => [toolKey(tool.name, tool.namespace), tool])).values(),
];

/** The texts that stand in a list more than once. */
function twice(texts: readonly string[]): string[] {
  const seen = new Set<string>();
  return texts.filter((text) => {
    const isSeen = seen.has(text);
    seen.add(text);
    return isSeen;
  });
}

/** Both names in one. Some namespaces of Codex end as the two are joined. */
const joined = ({ name, namespace }: ToolWithin): string =>
  namespace.endsWith("__") ? `${namespace}${name}` : `${namespace}__${name}`;

const callingFlat = (message: Message, names: FlatNames): Message => ({
  ...message,
  content: message.content.map((part) => {
    if (part.type !== "tool_call" || part.namespace === undefined) return part;
    const { namespace, name } = part;
    return { ...part, name: names.of({ namespace, name }), namespace: undefined };
  }),
});

function flatChoice(choice: ToolChoice, names: FlatNames): ToolChoice {
  if (choice.type === "tool") {
    const { namespace, ...own } = choice;
    const { name } = own;
    const isBare = namespace === undefined;
    return { ...own, name: isBare ? names.ofBare(name) : names.of({ namespace, name }) };
  }
  if (choice.type !== "allowed") return choice;
  const { within: others = [], names: bare, ...rest } = choice;
  const all = [...bare.map((name) => names.ofBare(name)), ...others.map((tool) => names.of(tool))];
  return { ...rest, names: all };
}

/** What is said of a namespace stands with the first of its tools that may be called: with each it would be as long as it is often. */
function flatTools(
  tools: readonly Tool[],
  names: FlatNames,
  choice: ToolChoice | undefined,
): Tool[] {
  const told = new Set<ToolNamespace>();
  return tools.map((tool) => {
    const { namespace, ...own } = tool;
    if (!namespace) return tool;
    const name = names.of({ namespace: namespace.name, name: tool.name });
    const isOffered = choice?.type !== "allowed" || choice.names.includes(name);
    if (!namespace.description || told.has(namespace) || !isOffered) return { ...own, name };
    told.add(namespace);
    const about = `About all tools of \`${namespace.name}\`: ${namespace.description}`;
    return {
      ...own,
      name,
      description: own.description ? `${own.description}\n\n${about}` : about,
    };
  });
}
