/** How agents of each protocol write a session: what they ask, what they keep of an answer, and which results they send. */
import type { ProtocolName } from "../../src/protocols/index.ts";
import { isWire, items, parsed, text, wire, type Wire } from "../transcripts/readers/meaning.ts";

/** A call of an answer, as its client reads it. */
export interface ClientCall {
  readonly id: unknown;
  readonly name: unknown;
  readonly isCustom?: boolean;
}

/** The words of a turn, perhaps with a picture. */
interface Words {
  readonly text: string;
  readonly picture: boolean;
}

export interface AgentClient {
  asks(words: Words): Wire[];
  /** A reminder of the agent within the conversation; none if the protocol has no place for it. */
  reminds(text: string): Wire[];
  results(calls: readonly ClientCall[], words: Words): Wire[];
  /** The turns that it keeps of a whole answer, and of the frames of a stream. */
  keeps(answer: Wire): Wire[];
  keepsStream(frames: readonly Wire[]): Wire[];
  callsIn(turns: readonly Wire[]): ClientCall[];
  body(turns: readonly Wire[]): Wire;
}

const png = "iVBORw0KGgo=";
const pictureUrl = `data:image/png;base64,${png}`;
const system = "You are an agent.";
const ephemeral = { type: "ephemeral" };

const schema = (member: string): Wire => ({
  type: "object",
  properties: { [member]: { type: "string" } },
});
/** Some vendors refuse names of these tools, and some a name of their arguments. */
const tools = [
  { name: "look", parameters: schema("input") },
  { name: "mcp.files/read", parameters: schema("$input") },
  { name: `mcp__${"server".repeat(12)}__look`, parameters: schema("input") },
];

/** Members of a chat delta that do not come in pieces. */
const wholeMembers = new Set(["role", "id", "type"]);

/** Adds a delta of a chat stream to the message so far, as OpenAI's SDK does. */
function addDelta(message: Wire, delta: Wire): void {
  for (const [key, piece] of Object.entries(delta)) {
    const before = message[key];
    if (key === "tool_calls") {
      const calls = items((message[key] ??= []));
      message[key] = calls;
      for (const { index, ...call } of items(piece)) addDelta((calls[Number(index)] ??= {}), call);
    } else if (Array.isArray(piece)) message[key] = [...items(before), ...items(piece)];
    else if (isWire(piece)) addDelta(wire((message[key] ??= {})), piece);
    else message[key] = wholeMembers.has(key) ? piece : text(before) + text(piece);
  }
}

const chat: AgentClient = {
  asks: ({ text: said, picture }) => {
    const image = { type: "image_url", image_url: { url: pictureUrl } };
    const content = picture ? [{ type: "text", text: said }, image] : said;
    return [{ role: "user", content }];
  },
  reminds: () => [],
  results: (calls, words) =>
    calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: words.text })),
  keeps: ({ choices }) => items(choices).map(({ message }) => wire(message)),
  keepsStream(frames) {
    const message: Wire = {};
    for (const { choices } of frames)
      for (const { delta } of items(choices)) addDelta(message, wire(delta));
    return [message];
  },
  callsIn: (turns) =>
    turns.flatMap(({ tool_calls: calls }) =>
      items(calls).map((call) => ({ id: call["id"], name: wire(call["function"])["name"] })),
    ),
  body: (turns) => ({
    messages: [{ role: "system", content: system }, ...turns],
    tools: tools.map((tool) => ({ type: "function", function: tool })),
  }),
};

const input = ({ text: said, picture }: Words): Wire[] => [
  { type: "input_text", text: said },
  ...(picture ? [{ type: "input_image", image_url: pictureUrl }] : []),
];

const responses: AgentClient = {
  asks: (words) => [{ type: "message", role: "user", content: input(words) }],
  reminds: (said) => [{ role: "developer", content: input({ text: said, picture: false }) }],
  results: (calls, words) =>
    calls.map(({ id, isCustom }) => ({
      type: isCustom ? "custom_tool_call_output" : "function_call_output",
      call_id: id,
      output: words.picture ? input(words) : words.text,
    })),
  keeps: ({ output }) => items(output),
  // Codex keeps no ids and no status.
  keepsStream: (frames) =>
    frames.flatMap(({ type, item }) => {
      const { id: _id, status: _status, ...rest } = wire(item);
      return type === "response.output_item.done" ? [rest] : [];
    }),
  callsIn: (turns) =>
    turns.flatMap(({ type, call_id: id, name }) => {
      const isCustom = type === "custom_tool_call";
      return isCustom || type === "function_call" ? [{ id, name, isCustom }] : [];
    }),
  body: (turns) => ({
    instructions: system,
    input: turns,
    include: ["reasoning.encrypted_content"],
    store: false,
    tools: [
      ...tools.map((tool) => ({ type: "function", ...tool })),
      { type: "custom", name: "apply_patch" },
      {
        type: "namespace",
        name: "mcp__files",
        description: "Files.",
        tools: [{ type: "function", name: "read", parameters: schema("input") }],
      },
    ],
  }),
};

const blocks = ({ text: said, picture }: Words): Wire[] => [
  { type: "text", text: said },
  ...(picture
    ? [{ type: "image", source: { type: "base64", media_type: "image/png", data: png } }]
    : []),
];

/** The last block of the last turn with the marker, as Claude Code moves it on with each request. */
function withMarker(turns: readonly Wire[]): Wire[] {
  const last = wire(turns.at(-1));
  const content = items(last["content"]);
  const end = content.at(-1);
  if (!end) return [...turns];
  const marked = [...content.slice(0, -1), { ...end, cache_control: ephemeral }];
  return [...turns.slice(0, -1), { ...last, content: marked }];
}

const messages: AgentClient = {
  asks: (words) => [{ role: "user", content: blocks(words) }],
  reminds: (said) => [{ role: "system", content: said }],
  results: (calls, words) => {
    const content = words.picture ? blocks(words) : words.text;
    return [
      {
        role: "user",
        content: calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content })),
      },
    ];
  },
  keeps: ({ content }) => [{ role: "assistant", content }],
  keepsStream(frames) {
    const content: Wire[] = [];
    const json: string[] = [];
    for (const { type, content_block: block, delta } of frames) {
      if (type === "content_block_start") content.push({ ...wire(block) });
      if (type !== "content_block_delta") continue;
      const at = content.length - 1;
      const pieces = wire(delta);
      json[at] = (json[at] ?? "") + text(pieces["partial_json"]);
      for (const key of ["text", "thinking", "signature"])
        if (key in pieces) content[at]![key] = text(content[at]![key]) + text(pieces[key]);
    }
    for (const [at, written] of json.entries())
      if (written) content[at]!["input"] = parsed(written);
    return [{ role: "assistant", content }];
  },
  callsIn: (turns) =>
    turns.flatMap(({ content }) =>
      items(content).flatMap(({ type, id, name }) => (type === "tool_use" ? [{ id, name }] : [])),
    ),
  body: (turns) => ({
    max_tokens: 900,
    system: [{ type: "text", text: system, cache_control: ephemeral }],
    messages: withMarker(turns),
    tools: tools.map(({ name, parameters }) => ({
      name: name.replace(/[^\w-]/g, "_"),
      input_schema: parameters,
    })),
  }),
};

const image = { inlineData: { mimeType: "image/png", data: png } };
const partsIn = ({ content }: Wire): Wire[] => items(wire(content)["parts"]);

const generateContent: AgentClient = {
  asks: ({ text: said, picture }) => [
    { role: "user", parts: [{ text: said }, ...(picture ? [image] : [])] },
  ],
  reminds: () => [],
  results: (calls, { text: said, picture }) => {
    const parts = calls.map(({ id, name }) => ({
      functionResponse: {
        ...(id === undefined ? {} : { id }),
        name,
        response: { output: said },
        ...(picture ? { parts: [image] } : {}),
      },
    }));
    return [{ role: "user", parts }];
  },
  keeps: ({ candidates }) => items(candidates).map(({ content }) => wire(content)),
  // Google's SDKs keep each chunk as a turn.
  keepsStream: (frames) =>
    frames.flatMap(({ candidates }) =>
      items(candidates)
        .filter((one) =>
          partsIn(one).some((part) => part["text"] !== "" || part["thoughtSignature"]),
        )
        .map(({ content }) => wire(content)),
    ),
  callsIn: (turns) =>
    turns.flatMap(({ parts }) =>
      items(parts).flatMap(({ functionCall }) => {
        const { id, name } = wire(functionCall);
        return name === undefined ? [] : [{ id, name }];
      }),
    ),
  body: (turns) => ({
    systemInstruction: { parts: [{ text: system }] },
    contents: turns,
    tools: [
      {
        functionDeclarations: tools.map(({ name, parameters }) => ({
          name: name.replace("/", "."),
          parametersJsonSchema: parameters,
        })),
      },
    ],
  }),
};

export const agentClients: Readonly<Record<ProtocolName, AgentClient>> = {
  chat,
  responses,
  messages,
  generate_content: generateContent,
};
