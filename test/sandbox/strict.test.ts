/** The refusals of the simulated vendors, like the real ones'. Each row changes a good body, and gets the vendor's message. */
import { describe, expect, it } from "vitest";
import { useSandbox, weather } from "./support.ts";
import { endpoints } from "./vendors.ts";

const sandbox = useSandbox();

interface Json {
  readonly [name: string]: unknown;
}

interface Suite {
  readonly good: Json;
  readonly path?: string;
  readonly refused: readonly [why: string, change: Json, message: string][];
}

const user = { role: "user", content: "Hi" };
const { name, description, parameters } = weather;

const chatCall = { id: "c1", type: "function", function: { name, arguments: "{}" } };
const chatHistory = [
  { role: "developer", content: "Be brief." },
  user,
  { role: "assistant", content: null, tool_calls: [chatCall] },
  { role: "tool", tool_call_id: "c1", content: "21" },
];
const chatTools = [{ type: "function", function: { name, description, parameters } }];

const chat: Suite = {
  good: {
    model: "sandbox-large",
    messages: chatHistory,
    tools: chatTools,
    tool_choice: "auto",
    parallel_tool_calls: true,
    temperature: 2,
    stop: ["a", "b", "c", "d"],
    max_completion_tokens: 5000,
    service_tier: "auto",
  },
  refused: [
    ["no model", { model: undefined }, "Missing required parameter: 'model'"],
    ["no messages", { messages: [] }, "empty array"],
    ["an unknown role", { messages: [{ ...user, role: "robot" }] }, "Invalid value: 'robot'"],
    [
      "null as content",
      { messages: [{ role: "user", content: null }] },
      "expected a string, got null",
    ],
    [
      "an unknown part",
      { messages: [{ role: "user", content: [{ type: "input_text" }] }] },
      "'input_text'",
    ],
    [
      "an orphan tool result",
      { messages: [user, chatHistory[3]] },
      "must be a response to a preceeding message",
    ],
    [
      "a call without a result",
      { messages: chatHistory.slice(0, 3) },
      "did not have response messages: c1",
    ],
    [
      "a delayed result",
      { messages: [...chatHistory.slice(0, 3), user, chatHistory[3]] },
      "did not have response messages",
    ],
    ["an unknown field", { top_k: 5 }, "Unknown parameter: 'top_k'"],
    ["a temperature above 2", { temperature: 2.1 }, "Expected a value <= 2"],
    ["zero output tokens", { max_completion_tokens: 0 }, "integer below minimum value"],
    ["five stop sequences", { stop: ["a", "b", "c", "d", "e"] }, "maximum length 4"],
    [
      "tool_choice without tools",
      { tools: undefined },
      "'tool_choice' is only allowed when 'tools'",
    ],
    [
      "stream_options without stream",
      { stream_options: { include_usage: true } },
      "'stream_options'",
    ],
    [
      "a schema that is not an object",
      { tools: [{ type: "function", function: { name, parameters: {} } }] },
      "got 'type: \"None\"'",
    ],
    [
      "a name with a dot",
      { tools: [{ type: "function", function: { name: "a.b" } }] },
      "does not match pattern",
    ],
    ["sampling for a reasoner", { model: "sandbox-reasoner" }, "'temperature' is not supported"],
  ],
};

const responseItems = [
  user,
  { type: "function_call", call_id: "c1", name, arguments: "{}" },
  { type: "function_call_output", call_id: "c1", output: "21" },
];

const responses: Suite = {
  good: {
    model: "sandbox-large",
    input: responseItems,
    tools: [{ type: "function", ...weather }],
    tool_choice: "required",
    temperature: 0,
  },
  refused: [
    ["no input", { input: undefined }, "Missing required parameter: 'input'"],
    ["an unknown role", { input: [{ ...user, role: "tool" }] }, "Invalid value: 'tool'"],
    [
      "a chat part",
      { input: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] },
      "Invalid value: 'text'",
    ],
    [
      "an image as an object",
      { input: [{ role: "user", content: [{ type: "input_image", image_url: {} }] }] },
      "got an object instead",
    ],
    [
      "an orphan output",
      { input: [user, responseItems[2]] },
      "No tool call found for function call output with call_id c1",
    ],
    [
      "a call without an output",
      { input: responseItems.slice(0, 2) },
      "No tool output found for function call c1",
    ],
    [
      "a call without a name",
      { input: [{ type: "function_call", call_id: "c", arguments: "" }] },
      "input[0].name",
    ],
    ["a nested tool", { tools: chatTools }, "Missing required parameter: 'tools[0].name'"],
    ["an unknown field", { messages: [] }, "Unknown parameter: 'messages'"],
    ["stop, which it lacks", { stop: ["a"] }, "Unknown parameter: 'stop'"],
    ["a temperature of the wrong type", { temperature: "1" }, "Invalid type for 'temperature'"],
    ["a previous response", { previous_response_id: "resp_1" }, "'resp_1' not found"],
    ["a forced choice without tools", { tools: [] }, "requires 'tools'"],
  ],
};

const use = { type: "tool_use", id: "toolu_1", name, input: {} };
const result = { type: "tool_result", tool_use_id: "toolu_1", content: "21" };
const messagesHistory = [
  user,
  { role: "assistant", content: [use] },
  { role: "user", content: [result, { type: "text", text: "And?" }] },
];
const messageTools = [{ name, description, input_schema: parameters }];
const thinking = { type: "enabled", budget_tokens: 2000 };

const messages: Suite = {
  good: {
    model: "sandbox-large",
    max_tokens: 4000,
    messages: messagesHistory,
    tools: messageTools,
    tool_choice: { type: "auto" },
    temperature: 1,
    top_k: 5,
  },
  refused: [
    ["no max_tokens", { max_tokens: undefined }, "max_tokens: Field required"],
    ["no messages", { messages: [] }, "at least one message is required"],
    [
      "an unknown role",
      { messages: [user, { role: "tool", content: "x" }] },
      "Input should be 'user' or 'assistant'",
    ],
    ["an assistant first", { messages: [{ role: "assistant", content: "Hi" }] }, "must use the"],
    [
      "an empty text block",
      { messages: [{ role: "user", content: [{ type: "text", text: "" }] }] },
      "must be non-empty",
    ],
    [
      "an empty message",
      { messages: [{ role: "user", content: "" }] },
      "must have non-empty content",
    ],
    [
      "an unknown block",
      { messages: [{ role: "user", content: [{ type: "image_url" }] }] },
      "'image_url'",
    ],
    [
      "a call without a result",
      { messages: messagesHistory.slice(0, 2) },
      "without `tool_result` blocks immediately after: toolu_1",
    ],
    [
      "an orphan result",
      { messages: [{ role: "user", content: [result] }] },
      "unexpected `tool_use_id`",
    ],
    [
      "a strange call id",
      { messages: [user, { role: "assistant", content: [{ ...use, id: "a.b" }] }] },
      "should match pattern",
    ],
    [
      "a foreign signature",
      {
        messages: [
          user,
          { role: "assistant", content: [{ type: "thinking", thinking: "x", signature: "eA==" }] },
        ],
      },
      "Invalid `signature`",
    ],
    ["a temperature above 1", { temperature: 1.1 }, "temperature: range: 0..1"],
    ["a stop sequence of white space", { stop_sequences: ["a", "\n"] }, "contain non-whitespace"],
    ["an unknown field", { seed: 1 }, "seed: Extra inputs are not permitted"],
    ["a tool without a schema", { tools: [{ name }] }, "input_schema: Field required"],
    [
      "a schema that is not an object",
      { tools: [{ name, input_schema: {} }] },
      "Input should be 'object'",
    ],
    [
      "five breakpoints",
      {
        messages: [
          {
            role: "user",
            content: Array.from({ length: 5 }, () => ({
              type: "text",
              text: "x",
              cache_control: { type: "ephemeral" },
            })),
          },
        ],
      },
      "Found 5",
    ],
    ["thinking with top_k", { thinking, messages: [user] }, "`top_k` must be unset"],
    [
      "thinking with a temperature",
      { thinking, messages: [user], top_k: undefined, temperature: 0.5 },
      "may only be set to 1",
    ],
    [
      "thinking with a forced tool",
      { thinking, messages: [user], top_k: undefined, tool_choice: { type: "any" } },
      "forces tool use",
    ],
    [
      "a budget above max_tokens",
      { thinking, messages: [user], top_k: undefined, max_tokens: 1500 },
      "greater than `thinking.budget_tokens`",
    ],
    [
      "a budget that is too small",
      { thinking: { ...thinking, budget_tokens: 1000 }, messages: [user], top_k: undefined },
      "greater than or equal to 1024",
    ],
  ],
};

const query = { role: "user", parts: [{ text: "Hi" }] };
const call = { role: "model", parts: [{ functionCall: { name, args: {} } }] };
const reply = { role: "user", parts: [{ functionResponse: { name, response: {} } }] };
const declare = (declared: Json) => ({
  tools: [{ functionDeclarations: [{ name, ...declared }] }],
});
const schema = { type: "OBJECT", properties: { city: { type: "STRING" } } };

const generateContent: Suite = {
  good: {
    contents: [query, call, reply],
    systemInstruction: { parts: [{ text: "Be brief." }] },
    ...declare({ parameters: schema }),
    toolConfig: { functionCallingConfig: { mode: "AUTO" } },
    generationConfig: { temperature: 2, topK: 3, stopSequences: ["a", "b", "c", "d", "e"] },
  },
  refused: [
    ["no contents", { contents: [] }, "contents is not specified"],
    ["an unknown role", { contents: [{ ...query, role: "assistant" }] }, "Please use a valid role"],
    ["no parts", { contents: [{ role: "user", parts: [] }] }, "must not be empty"],
    [
      "an empty part",
      { contents: [{ role: "user", parts: [{}] }] },
      "must have one initialized field",
    ],
    [
      "a response without a name",
      {
        contents: [query, call, { role: "user", parts: [{ functionResponse: { response: {} } }] }],
      },
      "Name cannot be empty",
    ],
    [
      "a call without a response",
      { contents: [query, call, query] },
      "number of function response parts is equal",
    ],
    [
      "an orphan response",
      { contents: [query, reply] },
      "comes immediately after a function call turn",
    ],
    ["an unknown field", { messages: [] }, 'Unknown name "messages"'],
    [
      "an unknown setting",
      { generationConfig: { stop: [] } },
      "Unknown name \"stop\" at 'generation_config'",
    ],
    ["a seed of 33 bits", { generationConfig: { seed: 4_294_967_295 } }, "(TYPE_INT32)"],
    [
      "a temperature above 2",
      { generationConfig: { temperature: 2.5 } },
      "supported range is from 0 to 2",
    ],
    [
      "six stop sequences",
      { generationConfig: { stopSequences: ["a", "b", "c", "d", "e", "f"] } },
      "at most 5",
    ],
    [
      "a budget beside a level",
      { generationConfig: { thinkingConfig: { thinkingBudget: 1, thinkingLevel: "LOW" } } },
      "only one of thinking budget",
    ],
    [
      "a JSON Schema keyword",
      declare({ parameters: { ...schema, $schema: "x" } }),
      'Unknown name "$schema"',
    ],
    [
      "a nested JSON Schema keyword",
      declare({
        parameters: { type: "OBJECT", properties: { a: { type: "ARRAY", items: { const: 1 } } } },
      }),
      "parameters.properties['a'].items",
    ],
    [
      "a list of types",
      declare({ parameters: { type: ["object", "null"] } }),
      "Proto field is not repeating",
    ],
    [
      "parameters that are not an object",
      declare({ parameters: { type: "STRING" } }),
      "should be of type OBJECT",
    ],
  ],
};

const suites: Record<string, Suite> = {
  chat,
  responses,
  messages,
  generate_content: generateContent,
};

describe.each(endpoints)("strict at $name", (endpoint) => {
  const { good, refused } = suites[endpoint.name]!;
  const post = (body: Json) =>
    fetch(sandbox.url + endpoint.path, {
      method: "POST",
      headers: endpoint.headers,
      body: JSON.stringify(body),
    });

  it("accepts a valid body", async () => {
    const response = await post(good);
    const { error = null } = (await response.json()) as { error?: unknown };
    expect(error).toBeNull();
    expect(response.status).toBe(200);
  });

  it.each(refused)("refuses %s", async (_why, change, message) => {
    const response = await post({ ...good, ...change });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message).toContain(message);
  });

  it("refuses a body that is not a JSON object, and other paths", async () => {
    const headers = endpoint.headers;
    const bad = await fetch(sandbox.url + endpoint.path, { method: "POST", headers, body: "[1]" });
    expect(bad.status).toBe(400);
    const lost = await fetch(`${sandbox.url + endpoint.path}x`, { method: "POST", headers });
    expect(lost.status).toBe(404);
    expect(await lost.json()).toHaveProperty("error.message");
  });
});
