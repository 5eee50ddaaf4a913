/** Builds a request for each place of the table of losses. */
import type { Body, Name } from "./world.ts";

const userTurn = { role: "user", content: "Hi" };
const call = { id: "c1", type: "function", function: { name: "look", arguments: "{}" } };

/** Values that pass field validation. Other fields accept any value. */
const values: Readonly<Record<string, unknown>> = {
  n: 2,
  logprobs: true,
  top_logprobs: 2,
  logit_bias: {},
  max_tokens: 7,
  prediction: {},
  moderation: {},
  safety_identifier: "someone",
  prompt_cache_options: { mode: "explicit" },
  prompt_cache_retention: "24h",
  web_search_options: {},
  modalities: ["text"],
  audio: {},
  response_format: { type: "grammar" },
  "stream_options.include_obfuscation": true,
  background: true,
  context_management: [{ type: "compaction" }],
  conversation: "conv_1",
  prompt: { id: "pmpt_1" },
  include: ["reasoning.encrypted_content"],
  truncation: "auto",
  max_tool_calls: 3,
  thinking: { type: "between_tools" },
  cache_control: { type: "ephemeral" },
  safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
  cachedContent: "cachedContents/1",
};

/** A value for a place, of the kind that its row names. */
function valueAt(place: string): unknown {
  const [path, kind] = place.split(":") as [string, string | undefined];
  if (kind === "code_interpreter with files")
    return { type: "code_interpreter", container: { type: "auto", file_ids: ["file_1"] } };
  if (kind === "allowed_tools of none") {
    const none = { mode: "required", tools: [] };
    return { type: "allowed_tools", ...none, allowed_tools: none };
  }
  if (path === "tool_choice") return { type: "something_new", name: "patch" };
  if (path.endsWith("]")) return { type: kind ?? "something_new", name: "x" };
  return values[path] ?? { some: "thing" };
}

const documentOf = (value: unknown): Body => ({
  type: "document",
  source: { type: "content", content: [value] },
});

/** A messages request with a tool result that contains `value`. */
const resultWith = (value: unknown): Body => ({
  messages: [
    userTurn,
    { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "look", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: [value] }] },
  ],
});

const namespaceOf = (value: unknown): Body => ({
  type: "namespace",
  name: "mcp",
  tools: [{ type: "function", name: "look" }, value],
});

/** A responses request with an item that adds a tool. */
const adding = (tool: unknown): Body => ({
  input: [userTurn, { type: "additional_tools", role: "developer", tools: [tool] }],
});

/** Builders of requests by path or by container, which is the path without its last step. */
const within: Readonly<Record<Name, Readonly<Record<string, (value: unknown) => Body>>>> = {
  chat: {
    "messages[].content[]": (value) => ({ messages: [{ role: "user", content: [value] }] }),
    "messages[].tool_calls[]": (value) => ({
      messages: [
        userTurn,
        { role: "assistant", content: "", tool_calls: [{ id: "c", ...(value as Body) }] },
      ],
    }),
    "messages[].audio": (audio) => ({
      messages: [userTurn, { role: "assistant", content: null, audio }, userTurn],
    }),
    "messages[].images[]": (image) => ({
      messages: [userTurn, { role: "assistant", content: "See.", images: [image] }, userTurn],
    }),
    "messages[].annotations": (one) => ({
      messages: [userTurn, { role: "assistant", content: "See.", annotations: [one] }, userTurn],
    }),
    "tools[]": (value) => ({ tools: [value] }),
    max_tokens: (value) => ({ max_completion_tokens: 9, max_tokens: value }),
  },
  responses: {
    "input[]": (value) => ({ input: [userTurn, value] }),
    "input[].content[]": (value) => ({ input: [{ role: "user", content: [value] }] }),
    "input[].output[]": (value) => ({
      input: [
        { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: [value] },
      ],
    }),
    "input[].tools[]": (value) => adding(value),
    "input[].tools[].tools[]": (value) => adding(namespaceOf(value)),
    "tools[]": (value) => ({ tools: [value] }),
    "tools[].tools[]": (value) => ({ tools: [namespaceOf(value)] }),
    // Numbers in range are carried, because Open Responses has these fields.
    presence_penalty: () => ({ presence_penalty: "some" }),
    frequency_penalty: () => ({ frequency_penalty: "some" }),
  },
  messages: {
    "system[]": (value) => ({ system: [value] }),
    "messages[].content[]": (value) => ({ messages: [{ role: "user", content: [value] }] }),
    "messages[].content[].content[]": (value) => resultWith(value),
    "messages[].content[].source.content[]": (value) => ({
      messages: [{ role: "user", content: [documentOf(value)] }],
    }),
    "messages[].content[].content[].content[]": (value) =>
      resultWith({ type: "search_result", source: "x", title: "x", content: [value] }),
    "messages[].content[].content[].source.content[]": (value) => resultWith(documentOf(value)),
    "tools[]": (value) => ({ tools: [value] }),
    tool_choice: () => ({
      tools: [
        { type: "web_search_20250305", name: "web_search" },
        { name: "look", input_schema: {} },
      ],
      tool_choice: { type: "tool", name: "web_search" },
    }),
    context_management: (value) => ({ context_management: { edits: value } }),
  },
  generate_content: {
    "contents[].parts[]": (value) => ({ contents: [{ role: "user", parts: [value] }] }),
    "contents[].parts[].functionResponse.parts[]": (value) => ({
      contents: [
        {
          role: "user",
          parts: [{ functionResponse: { name: "look", response: {}, parts: [value] } }],
        },
      ],
    }),
    ...Object.fromEntries(
      ["inlineData", "fileData", "functionResponse"].map((second) => [
        `contents[].parts[].${second}`,
        (value: unknown) => ({
          contents: [
            { role: "user", parts: [{ text: "Hi" }] },
            { role: "model", parts: [{ functionCall: { name: "look" }, [second]: value }] },
          ],
        }),
      ]),
    ),
    "systemInstruction.parts[]": (value) => ({ systemInstruction: { parts: [value] } }),
  },
};

/** The tool to which details are added. */
const tool: Readonly<Record<Name, Body>> = {
  chat: { type: "function", function: call.function },
  responses: { type: "function", name: "look" },
  messages: { name: "look", input_schema: {} },
  generate_content: {},
};

/** The fields that a minimal request of this protocol needs in addition to have a value at this place. */
export function requestWith(protocol: Name, place: string): Body {
  const [path] = place.split(":") as [string];
  const value = valueAt(place);
  const make = within[protocol][path];
  if (make) return make(value);
  const ofTool = /^tools\[\]\.(\w+)$/.exec(path);
  if (ofTool) return { tools: [{ ...tool[protocol], [ofTool[1]!]: value }] };
  const [outer, inner] = path.split(".") as [string, string | undefined];
  return { [outer]: inner === undefined ? value : { [inner]: value } };
}
