/**
 * Flattens tools in namespaces, which only responses has: Codex sends those of an MCP server so. Other targets get separate tools,
 * `<namespace>__<name>`, and calls in the answer are split again. Pure. Names are unique, and the same in every turn, independent of
 * earlier calls. CONV; T33.
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
import { withToolNames, noteOfTools } from "./tool-names.ts";
import { unchanged, type RequestRewrite } from "./request-rewrite.ts";

/** Moves a request's tools and earlier calls out of their namespaces. */
export function flattenNamespaces(request: CanonicalRequest): RequestRewrite {
  const { tools, toolChoice, messages } = request;
  if (!hasNamespaces(request)) return unchanged(request);
  const names = new FlatNames(request);
  const choice = toolChoice && flatChoice(toolChoice, names);
  return {
    request: {
      ...request,
      messages: messages.map((message) => flattenCalls(message, names)),
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
    wrapCodec: (upstream) => withToolNames(upstream, (name) => names.own(name) ?? { name }),
  };
}

const hasNamespaces = ({ tools = [], messages, toolChoice }: CanonicalRequest): boolean =>
  tools.some(({ namespace }) => namespace !== undefined) ||
  messages.some(({ content }) =>
    content.some((part) => part.type === "tool_call" && part.namespace !== undefined),
  ) ||
  chosenTools(toolChoice).length > 0;

/** The flat names of a request's tools. Names of offered tools do not depend on tools that were only called. */
class FlatNames {
  readonly #names = new Map<string, string>();
  readonly #callerTools = new Map<string, ToolWithin>();
  /** Names of tools without a namespace; and, by bare name, the tools whose name is in only one namespace. */
  readonly #plain: ReadonlySet<string>;
  readonly #bare: ReadonlyMap<string, ToolWithin>;

  constructor({ tools = [], messages, toolChoice }: CanonicalRequest) {
    this.#plain = new Set(tools.flatMap(({ name, namespace }) => (namespace ? [] : [name])));
    const offered = tools.map(({ name, namespace }) => ({ name, namespace: namespace?.name }));
    const those = distinct(offered.flatMap(within));
    const taken = new Set([...this.#plain, ...duplicates(those.map(joined))]);
    for (const tool of those) this.#add(tool, taken);
    const several = new Set(duplicates(those.map(({ name }) => name)));
    this.#bare = new Map(
      those.flatMap((tool) => (several.has(tool.name) ? [] : [[tool.name, tool] as const])),
    );
    const called = messages.flatMap(({ content }) =>
      content.flatMap((part) => (part.type === "tool_call" ? within(part) : [])),
    );
    for (const tool of [...called, ...chosenTools(toolChoice)]) this.#add(tool, taken);
  }

  of({ name, namespace }: ToolWithin): string {
    return this.#names.get(toolKey(name, namespace))!;
  }

  /** Returns the caller's name and namespace; undefined for a tool without a namespace. */
  own(flat: string): ToolWithin | undefined {
    return this.#callerTools.get(flat);
  }

  /** Returns the flat name for a choice without a namespace: the tool without a namespace, otherwise the only one with this name. */
  ofNameAlone(name: string): string {
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
    this.#callerTools.set(name, { name: tool.name, namespace: tool.namespace });
  }
}

const within = ({ name, namespace }: Pick<ToolCallPart, "name" | "namespace">): ToolWithin[] =>
  namespace === undefined ? [] : [{ name, namespace }];

function chosenTools(choice: ToolChoice | undefined): readonly ToolWithin[] {
  if (choice?.type === "tool") return within(choice);
  return choice?.type === "allowed" ? (choice.within ?? []) : [];
}

const distinct = (tools: readonly ToolWithin[]): ToolWithin[] => [
  ...new Map(tools.map((tool) => [toolKey(tool.name, tool.namespace), tool])).values(),
];

/** Returns the texts that occur more than once in a list. */
function duplicates(texts: readonly string[]): string[] {
  const seen = new Set<string>();
  return texts.filter((text) => {
    const isSeen = seen.has(text);
    seen.add(text);
    return isSeen;
  });
}

/** Joins both names. Some namespaces of Codex already end with the separator. */
const joined = ({ name, namespace }: ToolWithin): string =>
  namespace.endsWith("__") ? `${namespace}${name}` : `${namespace}__${name}`;

const flattenCalls = (message: Message, names: FlatNames): Message => ({
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
    return { ...own, name: isBare ? names.ofNameAlone(name) : names.of({ namespace, name }) };
  }
  if (choice.type !== "allowed") return choice;
  const { within: others = [], names: bare, ...rest } = choice;
  const all = [
    ...bare.map((name) => names.ofNameAlone(name)),
    ...others.map((tool) => names.of(tool)),
  ];
  return { ...rest, names: all };
}

/** Only the first callable tool of a namespace gets the namespace's description: repeating it for each would be long. */
function flatTools(
  tools: readonly Tool[],
  names: FlatNames,
  choice: ToolChoice | undefined,
): Tool[] {
  const told = new Set<ToolNamespace>();
  const allowed = choice?.type === "allowed" ? new Set(choice.names) : undefined;
  return tools.map((tool) => {
    const { namespace, ...own } = tool;
    if (!namespace) return tool;
    const name = names.of({ namespace: namespace.name, name: tool.name });
    const isOffered = allowed === undefined || allowed.has(name);
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
