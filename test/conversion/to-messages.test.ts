/** Calls in other protocols towards a messages upstream. CONV-401 to CONV-416. */
import { describe, it } from "vitest";
import {
  conversions,
  maxOutputTokens,
  showCase,
  titled,
  toolsOf,
  type Body,
  type Case,
  type Name,
} from "./world.ts";

const world = conversions();

const to = "messages";
const config = (generationConfig: Body): Body => ({ generationConfig });
const asked = (...content: unknown[]): Body => ({ messages: [{ role: "user", content }] });

describe("the fields of a request to messages", () => {
  it.each(
    titled([
      {
        title: "CONV-401: the system message becomes system, none is left among the messages",
        from: "chat",
        to,
        body: {
          messages: [
            { role: "system", content: "Be brief." },
            { role: "user", content: "How big?" },
          ],
        },
        up: {
          system: [{ type: "text", text: "Be brief." }],
          ...asked({ type: "text", text: "How big?" }),
        },
        absent: ["messages.1"],
      },
      {
        title: "CONV-401: instructions become system",
        from: "responses",
        to,
        body: { instructions: "Be brief." },
        up: { system: [{ type: "text", text: "Be brief." }] },
        absent: ["instructions"],
      },
      {
        title: "CONV-401: systemInstruction becomes system",
        from: "generate_content",
        to,
        body: { systemInstruction: { parts: [{ text: "Be brief." }] } },
        up: { system: [{ type: "text", text: "Be brief." }] },
      },
      {
        title: "CONV-402 T30: max_output_tokens becomes max_tokens",
        from: "responses",
        to,
        body: { max_output_tokens: 50 },
        up: { max_tokens: 50 },
        absent: ["max_output_tokens"],
      },
      {
        title: "CONV-402 T30: maxOutputTokens becomes max_tokens",
        from: "generate_content",
        to,
        body: config({ maxOutputTokens: 50 }),
        up: { max_tokens: 50 },
      },
      ...(["chat", "responses", "generate_content"] as const).map((from): Case => ({
        title: "CONV-403 T19: a missing maximum is filled from the model's limit",
        from,
        to,
        body: {},
        up: { max_tokens: maxOutputTokens },
      })),
      ...[0, 0.4, 1].map((temperature): Case => ({
        title: `CONV-404: temperature ${temperature} is sent unchanged`,
        from: "chat",
        to,
        body: { temperature, top_p: 0.9 },
        up: { temperature, top_p: 0.9 },
      })),
      ...(
        [
          ["chat", { temperature: 1.6 }, "temperature"],
          ["responses", { temperature: 1.01 }, "temperature"],
          ["generate_content", config({ temperature: 2 }), "generationConfig.temperature"],
        ] as const
      ).map(([from, body, name]): Case => ({
        title: "CONV-405 TXT-16: temperature above 1 is capped at 1 and reported",
        from,
        to,
        body,
        up: { temperature: 1 },
        reported: [name],
      })),
      {
        title: "CONV-406: topK becomes top_k",
        from: "generate_content",
        to,
        body: config({ topK: 5 }),
        up: { top_k: 5 },
      },
      {
        title: "CONV-407: stop becomes stop_sequences",
        from: "chat",
        to,
        body: { stop: ["a", "b", "c", "d"] },
        up: { stop_sequences: ["a", "b", "c", "d"] },
        absent: ["stop"],
      },
      {
        title: "CONV-407: stop sequences of white space, which Anthropic refuses, are dropped",
        from: "chat",
        to,
        body: { stop: ["\n\n", "END", ""] },
        up: { stop_sequences: ["END"] },
        reported: ["stop"],
      },
      {
        title: "CONV-407: a single stop sequence of white space is dropped",
        from: "chat",
        to,
        body: { stop: "\n" },
        absent: ["stop_sequences"],
        reported: ["stop"],
      },
      {
        title: "CONV-407: five stopSequences are all sent",
        from: "generate_content",
        to,
        body: config({ stopSequences: ["a", "b", "c", "d", "e"] }),
        up: { stop_sequences: ["a", "b", "c", "d", "e"] },
      },
      {
        title: "CONV-408 CONV-113: seed and penalties are dropped",
        from: "chat",
        to,
        body: { seed: 7, presence_penalty: 0.5, frequency_penalty: -0.5 },
        absent: ["seed", "presence_penalty", "frequency_penalty"],
        reported: ["seed", "presence_penalty", "frequency_penalty"],
      },
      {
        title: "CONV-408 CONV-113: seed and penalties of generateContent are dropped",
        from: "generate_content",
        to,
        body: config({ frequencyPenalty: -0.5, seed: 7 }),
        nowhere: ["seed", "enalty"],
        reported: ["generationConfig.frequencyPenalty", "generationConfig.seed"],
      },
      ...(
        [
          ["chat", { response_format: { type: "json_object" } }, "response_format"],
          [
            "responses",
            { text: { format: { type: "json_schema", name: "s", schema: {} } } },
            "text.format",
          ],
          [
            "generate_content",
            config({ responseMimeType: "application/json" }),
            "generationConfig.responseMimeType",
          ],
        ] as const
      ).map(([from, body, name]): Case => ({
        title: "CONV-412 CONV-113: JSON output is dropped",
        from,
        to,
        body,
        absent: ["response_format", "output_config"],
        nowhere: ["json"],
        reported: [name],
      })),
      {
        title: "CONV-412: a schema and its type are dropped, and both are reported",
        from: "generate_content",
        to,
        body: config({
          responseMimeType: "application/json",
          responseJsonSchema: { type: "object" },
        }),
        nowhere: ["json"],
        reported: ["generationConfig.responseMimeType", "generationConfig.responseJsonSchema"],
      },
      {
        title: "CONV-414 CONV-423: summary, mode and context are dropped",
        from: "responses",
        to,
        body: { reasoning: { summary: "auto", mode: "pro", context: "all_turns" } },
        absent: ["reasoning", "thinking"],
        reported: ["reasoning.summary", "reasoning.mode", "reasoning.context"],
      },
      {
        title: "CONV-415 CONV-113: verbosity is dropped",
        from: "chat",
        to,
        body: { verbosity: "low" },
        nowhere: ["verbosity"],
        reported: ["verbosity"],
      },
      {
        title: "CONV-415 CONV-113: text.verbosity is dropped",
        from: "responses",
        to,
        body: { text: { verbosity: "low" } },
        nowhere: ["verbosity"],
        reported: ["text.verbosity"],
      },
      {
        title: "CONV-416: user becomes metadata.user_id",
        from: "chat",
        to,
        body: { user: "u1" },
        up: { metadata: { user_id: "u1" } },
        absent: ["user"],
      },
      {
        title: "T31: prompt_cache_key does not reach a vendor without that field",
        from: "chat",
        to,
        body: { prompt_cache_key: "session-1" },
        nowhere: ["session-1"],
        reported: ["prompt_cache_key"],
      },
    ]),
  )("%s", (_title, one) => showCase(world, one));
});

const choices: readonly (readonly [Name, Body, Body])[] = [
  ["chat", { tool_choice: "required" }, { type: "any" }],
  ["chat", { tool_choice: "auto" }, { type: "auto" }],
  ["chat", { tool_choice: "none" }, { type: "none" }],
  [
    "chat",
    { tool_choice: { type: "function", function: { name: "look" } } },
    { type: "tool", name: "look" },
  ],
  [
    "responses",
    { tool_choice: { type: "function", name: "look" } },
    { type: "tool", name: "look" },
  ],
  ["generate_content", { toolConfig: { functionCallingConfig: { mode: "ANY" } } }, { type: "any" }],
];

describe("the tools of a request to messages", () => {
  it.each(
    titled([
      ...(["chat", "responses", "generate_content"] as const).map((from): Case => ({
        title: "CONV-409: tools get the messages form",
        from,
        to,
        body: toolsOf[from],
        up: {
          tools: [
            {
              name: "look",
              description: "Looks up a place",
              input_schema: { type: "object", required: ["where"] },
            },
          ],
        },
        absent: ["tools.0.function", "tools.0.parameters", "tools.0.functionDeclarations"],
      })),
      ...choices.map(([from, choice, wanted]): Case => ({
        title: `CONV-410: the choice ${JSON.stringify(choice)} is converted`,
        from,
        to,
        body: { ...toolsOf[from], ...choice },
        up: { tool_choice: wanted },
        absent: ["toolConfig"],
      })),
      ...(["chat", "responses"] as const).flatMap((from) =>
        [true, false].map((parallel): Case => ({
          title: `CONV-411 T29 T32: parallel_tool_calls ${parallel} is inverted`,
          from,
          to,
          body: { ...toolsOf[from], parallel_tool_calls: parallel },
          up: { tool_choice: { type: "auto", disable_parallel_tool_use: !parallel } },
          absent: ["parallel_tool_calls"],
        })),
      ),
      {
        title: "T29: only the allowed tools are offered",
        from: "chat",
        to,
        body: {
          tools: [
            ...(toolsOf.chat["tools"] as Body[]),
            { type: "function", function: { name: "leap" } },
          ],
          tool_choice: {
            type: "allowed_tools",
            allowed_tools: {
              mode: "required",
              tools: [{ type: "function", function: { name: "look" } }],
            },
          },
        },
        up: { tools: [{ name: "look" }], tool_choice: { type: "any" } },
        nowhere: ["leap"],
      },
      {
        title: "T24: a schema without a type and a tool without a schema become object schemas",
        from: "chat",
        to,
        body: {
          tools: [
            { type: "function", function: { name: "a", parameters: { properties: {} } } },
            { type: "function", function: { name: "b" } },
          ],
        },
        up: {
          tools: [
            { name: "a", input_schema: { type: "object", properties: {} } },
            { name: "b", input_schema: { type: "object" } },
          ],
        },
      },
      {
        title: "RESP-16: a forced tool choice without tools is dropped and reported",
        from: "chat",
        to,
        body: { tool_choice: "required", parallel_tool_calls: true },
        absent: ["tool_choice", "tools"],
        reported: ["tool_choice", "parallel_tool_calls"],
      },
    ]),
  )("%s", (_title, one) => showCase(world, one));
});
