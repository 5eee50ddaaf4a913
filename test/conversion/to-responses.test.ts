/** Calls in other protocols towards a responses upstream. CONV-3xx. */
import { describe, it } from "vitest";
import {
  conversions,
  pictureData,
  pictureDataUrl,
  pictureUrl,
  showCase,
  titled,
  toolsOf,
  user,
  type Body,
  type Case,
} from "./world.ts";

const world = conversions();

const to = "responses";
const config = (generationConfig: Body): Body => ({ generationConfig });
const thinking = (thinkingConfig: Body): Body => config({ thinkingConfig });

describe("the fields of a request to responses", () => {
  it.each(
    titled([
      {
        title: "CONV-301: the system message becomes instructions",
        from: "chat",
        to,
        body: {
          messages: [
            { role: "system", content: "Be brief." },
            { role: "user", content: "How big?" },
          ],
        },
        up: {
          instructions: "Be brief.",
          input: [
            { type: "message", role: "user", content: [{ type: "input_text", text: "How big?" }] },
          ],
        },
        absent: ["messages"],
      },
      {
        title: "CONV-301: system becomes instructions",
        from: "messages",
        to,
        body: { system: [{ type: "text", text: "Be brief." }] },
        up: { instructions: "Be brief." },
        absent: ["system"],
      },
      {
        title: "CONV-301: systemInstruction becomes instructions",
        from: "generate_content",
        to,
        body: { systemInstruction: { parts: [{ text: "Be brief." }] } },
        up: { instructions: "Be brief." },
        absent: ["systemInstruction"],
      },
      ...(["max_tokens", "max_completion_tokens"] as const).map((name): Case => ({
        title: `CONV-302 T30: ${name} becomes max_output_tokens`,
        from: "chat",
        to,
        body: { [name]: 50 },
        up: { max_output_tokens: 50 },
        absent: [name],
      })),
      {
        title: "CONV-302 T30: max_tokens becomes max_output_tokens",
        from: "messages",
        to,
        body: { max_tokens: 50 },
        up: { max_output_tokens: 50 },
        absent: ["max_tokens"],
      },
      {
        title: "CONV-302: max_tokens below 16, which OpenAI refuses, becomes 16",
        from: "messages",
        to,
        body: { max_tokens: 1 },
        up: { max_output_tokens: 16 },
        reported: ["max_tokens"],
      },
      {
        title: "CONV-303: temperature 1.7 is sent unchanged",
        from: "chat",
        to,
        body: { temperature: 1.7, top_p: 0.9 },
        up: { temperature: 1.7, top_p: 0.9 },
      },
      {
        title: "CONV-304 CONV-113: top_k is dropped",
        from: "messages",
        to,
        body: { top_k: 5 },
        absent: ["top_k"],
        reported: ["top_k"],
      },
      {
        title: "CONV-304 CONV-113: topK is dropped",
        from: "generate_content",
        to,
        body: config({ topK: 5 }),
        absent: ["top_k", "topK", "generationConfig"],
        reported: ["generationConfig.topK"],
      },
      ...(
        [
          ["chat", { stop: ["a"] }, "stop"],
          ["messages", { stop_sequences: ["a"] }, "stop_sequences"],
          ["generate_content", config({ stopSequences: ["a"] }), "generationConfig.stopSequences"],
        ] as const
      ).map(([from, body, name]): Case => ({
        title: "CONV-305 CONV-113: stop sequences are dropped",
        from,
        to,
        body,
        absent: ["stop", "stop_sequences", "stopSequences"],
        reported: [name],
      })),
      {
        title: "CONV-306 CONV-113: seed and penalties are dropped",
        from: "chat",
        to,
        body: { seed: 7, presence_penalty: 0.5, frequency_penalty: -0.5 },
        absent: ["seed", "presence_penalty", "frequency_penalty"],
        reported: ["seed", "presence_penalty", "frequency_penalty"],
      },
      {
        title: "CONV-310: response_format becomes text.format",
        from: "chat",
        to,
        body: {
          response_format: {
            type: "json_schema",
            json_schema: { name: "size", schema: { type: "object" }, strict: true },
          },
        },
        up: {
          text: {
            format: { type: "json_schema", name: "size", schema: { type: "object" }, strict: true },
          },
        },
        absent: ["response_format"],
      },
      {
        title: "CONV-310: responseMimeType becomes text.format",
        from: "generate_content",
        to,
        body: {
          ...config({ responseMimeType: "application/json" }),
          contents: [{ role: "user", parts: [{ text: "A Json list" }] }],
        },
        up: { text: { format: { type: "json_object" } } },
        absent: ["input.1"],
      },
      {
        title: "CONV-311: reasoning_effort becomes reasoning.effort",
        from: "chat",
        to,
        body: { reasoning_effort: "high" },
        up: { reasoning: { effort: "high" } },
        absent: ["reasoning_effort", "reasoning.summary"],
      },
      {
        title: "CONV-311 T34: xhigh stays xhigh",
        from: "messages",
        to,
        body: { output_config: { effort: "xhigh" } },
        up: { reasoning: { effort: "xhigh" } },
        absent: ["output_config"],
      },
      {
        title: "CONV-312: includeThoughts asks for a summary",
        from: "generate_content",
        to,
        body: thinking({ includeThoughts: true }),
        up: { reasoning: { summary: "auto" } },
      },
      {
        title: "CONV-312: includeThoughts false asks for no summary",
        from: "generate_content",
        to,
        body: thinking({ includeThoughts: false }),
        absent: ["reasoning.summary"],
      },
      {
        title: "CONV-313: verbosity becomes text.verbosity",
        from: "chat",
        to,
        body: { verbosity: "low" },
        up: { text: { verbosity: "low" } },
        absent: ["verbosity"],
      },
      {
        title: "CONV-314: user stays user",
        from: "chat",
        to,
        body: { user: "u1" },
        up: { user: "u1" },
      },
      {
        title: "CONV-314: metadata.user_id becomes user",
        from: "messages",
        to,
        body: { metadata: { user_id: "u1" } },
        up: { user: "u1" },
        absent: ["metadata"],
      },
      {
        title: "CONV-317 CONV-113: a token budget never becomes an effort",
        from: "messages",
        to,
        body: { max_tokens: 4000, thinking: { type: "enabled", budget_tokens: 2000 } },
        absent: ["reasoning.effort", "thinking"],
        reported: ["thinking.budget_tokens"],
      },
      {
        title: "CONV-317: the budget of thinkingConfig never becomes an effort",
        from: "generate_content",
        to,
        body: thinking({ thinkingBudget: 2000 }),
        absent: ["reasoning.effort"],
        reported: ["generationConfig.thinkingConfig.thinkingBudget"],
      },
    ]),
  )("%s", (_title, one) => showCase(world, one));
});

const flatTool = {
  type: "function",
  name: "look",
  description: "Looks up a place",
  parameters: { type: "object", required: ["where"] },
};

describe("the tools of a request to responses", () => {
  it.each(
    titled([
      ...(["chat", "messages", "generate_content"] as const).map((from): Case => ({
        title: "CONV-307: tools get the flat form",
        from,
        to,
        body: toolsOf[from],
        up: { tools: [flatTool] },
        absent: ["tools.0.function", "tools.0.input_schema"],
      })),
      {
        title: "CONV-308: a named function gets the flat form",
        from: "chat",
        to,
        body: { ...toolsOf.chat, tool_choice: { type: "function", function: { name: "look" } } },
        up: { tool_choice: { type: "function", name: "look" } },
        absent: ["tool_choice.function"],
      },
      ...(["none", "auto", "required"] as const).map((choice): Case => ({
        title: `CONV-308: tool_choice ${choice} is unchanged`,
        from: "chat",
        to,
        body: { ...toolsOf.chat, tool_choice: choice },
        up: { tool_choice: choice },
      })),
      {
        title: "CONV-308: any becomes required",
        from: "messages",
        to,
        body: { ...toolsOf.messages, tool_choice: { type: "any" } },
        up: { tool_choice: "required" },
      },
      {
        title: "CONV-308: a named tool becomes a named function",
        from: "messages",
        to,
        body: { ...toolsOf.messages, tool_choice: { type: "tool", name: "look" } },
        up: { tool_choice: { type: "function", name: "look" } },
      },
      ...[true, false].map((disabled): Case => ({
        title: `CONV-309: disable_parallel_tool_use ${disabled} is inverted`,
        from: "messages",
        to,
        body: {
          ...toolsOf.messages,
          tool_choice: { type: "auto", disable_parallel_tool_use: disabled },
        },
        up: { parallel_tool_calls: !disabled },
      })),
      {
        title: "CONV-309 T29: parallel_tool_calls is unchanged",
        from: "chat",
        to,
        body: { ...toolsOf.chat, parallel_tool_calls: false },
        up: { parallel_tool_calls: false },
      },
      {
        title: "RESP-16: parallel_tool_calls without tools is dropped and reported",
        from: "chat",
        to,
        body: { parallel_tool_calls: false },
        absent: ["parallel_tool_calls", "tools"],
        reported: ["parallel_tool_calls"],
      },
    ]),
  )("%s", (_title, one) => showCase(world, one));
});

const marker = { cache_control: { type: "ephemeral" } };

describe("the content of a request to responses", () => {
  it.each(
    titled([
      {
        title: "CONV-315: pictures are sent as base64 and by URL",
        from: "chat",
        to,
        body: user([
          { type: "image_url", image_url: { url: pictureDataUrl, detail: "low" } },
          { type: "image_url", image_url: { url: pictureUrl } },
        ]),
        up: {
          input: [
            {
              role: "user",
              content: [
                { type: "input_image", image_url: pictureDataUrl, detail: "low" },
                { type: "input_image", image_url: pictureUrl, detail: "auto" },
              ],
            },
          ],
        },
      },
      {
        title: "CONV-315: pictures of inlineData become data URLs",
        from: "generate_content",
        to,
        body: {
          contents: [
            { role: "user", parts: [{ inlineData: { mimeType: "image/png", data: pictureData } }] },
          ],
        },
        up: { input: [{ content: [{ type: "input_image", image_url: pictureDataUrl }] }] },
      },
      {
        title: "CONV-316: no cache marker is sent",
        from: "messages",
        to,
        body: {
          ...user([{ type: "text", text: "Hi", ...marker }]),
          system: [{ type: "text", text: "Be brief.", ...marker }],
        },
        nowhere: ["cache_control", "ephemeral"],
        reported: ["messages.content.cache_control", "system.cache_control"],
      },
      {
        title: "CONV-606 CONV-113: a document is dropped, and the rest is sent",
        from: "messages",
        to,
        body: user([
          {
            type: "document",
            source: { type: "base64", media_type: "application/pdf", data: "JVBERg==" },
          },
          { type: "text", text: "Read it." },
        ]),
        up: { input: [{ role: "user", content: [{ type: "input_text", text: "Read it." }] }] },
        nowhere: ["JVBERg==", "input_file"],
        reported: ["messages.content.document"],
      },
    ]),
  )("%s", (_title, one) => showCase(world, one));
});
