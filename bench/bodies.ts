/** Request bodies: a short question, and the body of a coding agent (system prompt, tools, many turns with tool results). */
import type { Scenario } from "./scenarios.ts";

const sentences = [
  "The handler reads the configuration once and keeps it for the life of the process.",
  "When the connection is lost, the pool opens another one and the call is retried.",
  "Tests run against the real database, so a wrong index shows up as a slow test.",
  'Its name is "resolve(path)" and it returns undefined where nothing was found.',
];

/** Text of about `bytes` bytes in the style of tool output: lines, indentation, quotes. */
function listing(bytes: number, seed: number): string {
  let text = "";
  for (let line = 0; text.length < bytes; line += 1)
    text += `${String(line + seed).padStart(5)}\t  ${sentences[(line + seed) % sentences.length]}\n`;
  return text.slice(0, bytes);
}

const toolNames = ["read_file", "write_file", "list_folder", "search", "run_command", "fetch_page"];

const tools = toolNames.map((name, index) => ({
  type: "function",
  function: {
    name,
    description: listing(300, index),
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "Absolute path." },
        limit: { type: "integer", minimum: 1, description: "At most so many lines." },
        flags: { type: "array", items: { type: "string", enum: ["recursive", "hidden"] } },
      },
      required: ["path"],
    },
  },
}));

/** One step of an agent: a message, a tool call, and the tool's result. */
function step(index: number, resultBytes: number): object[] {
  const name = toolNames[index % toolNames.length];
  const id = `call_${String(index).padStart(6, "0")}`;
  const call = { name, arguments: JSON.stringify({ path: `/src/file-${index}.ts`, limit: 200 }) };
  return [
    {
      role: "assistant",
      content: `I look at file ${index} next.`,
      tool_calls: [{ id, type: "function", function: call }],
    },
    { role: "tool", tool_call_id: id, content: listing(resultBytes, index) },
  ];
}

/** The messages of an agent, sized so that `bytesWith(messages)` is exactly `bytes`. */
function agentMessages(bytes: number, bytesWith: (messages: object[]) => number): object[] {
  const system = { role: "system", content: listing(Math.min(bytes / 8, 12_000), 0) };
  const messages: object[] = [system, { role: "user", content: "Make the tests pass." }];
  const last = { role: "user", content: "" };
  const resultBytes = Math.min(3_000, bytes / 8);
  for (let index = 0; ; index += 1) {
    const turns = step(index, resultBytes);
    if (bytesWith([...messages, ...turns, last]) > bytes) break;
    messages.push(...turns);
  }
  const missing = bytes - bytesWith([...messages, last]);
  last.content = "Go on. ".repeat(missing / 7 + 1).slice(0, missing);
  return [...messages, last];
}

const question = [
  { role: "system", content: "You are a helpful assistant. ".repeat(16) },
  { role: "user", content: "Tell me about foxes and dogs." },
];

/** The JSON body of a scenario's calls for `model`. */
export function bodyOf(scenario: Scenario, model: string): string {
  const { endpoint, answer, bodyKb } = scenario;
  if (endpoint === "tasks")
    return JSON.stringify({ model, prompt: "A boat on a lake at dawn", duration: 2 });
  if (endpoint === "images")
    return JSON.stringify({ model, prompt: "A boat on a lake at dawn", size: "1024x1024" });
  const streamed =
    answer === "whole" ? {} : { stream: true, stream_options: { include_usage: true } };
  const options = { model, max_tokens: 256, ...streamed };
  if (bodyKb === undefined) return JSON.stringify({ ...options, messages: question });
  // All tools do not fit into a small body.
  const own = bodyKb < 10 ? tools.slice(0, 1) : tools;
  const withMessages = (messages: object[]) => JSON.stringify({ ...options, messages, tools: own });
  return withMessages(agentMessages(bodyKb * 1_000, (some) => withMessages(some).length));
}
