/** Calls in other protocols towards a generateContent upstream. CONV-5xx. */
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

const to = "generate_content";
const config = (generationConfig: Body): Body => ({ generationConfig });
const thinking = (thinkingConfig: Body): Body => config({ thinkingConfig });
const parts = (...found: Body[]): Body => ({ contents: [{ role: "user", parts: found }] });
const stops = ["a", "b", "c", "d", "e", "f"];

describe("the fields of a request to generateContent", () => {
  it.each(
    titled([
      {
        title: "CONV-501: the system message becomes systemInstruction",
        from: "chat",
        to,
        body: {
          messages: [
            { role: "system", content: "Be brief." },
            { role: "user", content: "How big?" },
          ],
        },
        up: {
          systemInstruction: { parts: [{ text: "Be brief." }] },
          ...parts({ text: "How big?" }),
        },
        absent: ["messages", "contents.1"],
      },
      {
        title: "CONV-501: instructions become systemInstruction",
        from: "responses",
        to,
        body: { instructions: "Be brief." },
        up: { systemInstruction: { parts: [{ text: "Be brief." }] } },
        absent: ["instructions"],
      },
      {
        title: "CONV-501: system becomes systemInstruction",
        from: "messages",
        to,
        body: { system: "Be brief." },
        up: { systemInstruction: { parts: [{ text: "Be brief." }] } },
        absent: ["system"],
      },
      {
        title: "CONV-502 T30: max_tokens becomes maxOutputTokens",
        from: "chat",
        to,
        body: { max_tokens: 50 },
        up: config({ maxOutputTokens: 50 }),
        absent: ["max_tokens"],
      },
      {
        title: "CONV-502 T30: max_output_tokens becomes maxOutputTokens",
        from: "responses",
        to,
        body: { max_output_tokens: 50 },
        up: config({ maxOutputTokens: 50 }),
      },
      {
        title: "CONV-503: temperature 1.7 is sent unchanged",
        from: "chat",
        to,
        body: { temperature: 1.7, top_p: 0.9 },
        up: config({ temperature: 1.7, topP: 0.9 }),
      },
      {
        title: "CONV-504: top_k becomes topK",
        from: "messages",
        to,
        body: { top_k: 5 },
        up: config({ topK: 5 }),
        absent: ["top_k"],
      },
      {
        title: "CONV-505: stop becomes stopSequences",
        from: "chat",
        to,
        body: { stop: ["a", "b"] },
        up: config({ stopSequences: ["a", "b"] }),
        absent: ["stop"],
      },
      {
        title: "CONV-505: a single stop sequence becomes a list",
        from: "chat",
        to,
        body: { stop: "a" },
        up: config({ stopSequences: ["a"] }),
      },
      {
        title: "CONV-506 TXT-16: the first five of six stop sequences are sent",
        from: "messages",
        to,
        body: { stop_sequences: stops },
        up: config({ stopSequences: stops.slice(0, 5) }),
        absent: ["generationConfig.stopSequences.5"],
        reported: ["stop_sequences"],
      },
      {
        title: "CONV-506 LIM-12: five stop sequences are all sent",
        from: "messages",
        to,
        body: { stop_sequences: stops.slice(0, 5) },
        up: config({ stopSequences: stops.slice(0, 5) }),
      },
      {
        title: "CONV-507: seed and penalties are sent",
        from: "chat",
        to,
        body: { seed: 7, presence_penalty: 0.5, frequency_penalty: -0.5 },
        up: config({ seed: 7, presencePenalty: 0.5, frequencyPenalty: -0.5 }),
        absent: ["seed"],
      },
      {
        title: "CONV-511: response_format becomes responseMimeType",
        from: "chat",
        to,
        body: { response_format: { type: "json_object" } },
        up: config({ responseMimeType: "application/json" }),
        absent: ["response_format"],
      },
      {
        title: "CONV-511: text.format is sent with its schema",
        from: "responses",
        to,
        body: { text: { format: { type: "json_schema", name: "s", schema: { type: "object" } } } },
        up: config({
          responseMimeType: "application/json",
          responseJsonSchema: { type: "object" },
        }),
      },
      {
        title: "CONV-512: reasoning_effort becomes a thinkingLevel",
        from: "chat",
        to,
        body: { reasoning_effort: "low" },
        up: thinking({ thinkingLevel: "LOW" }),
        absent: ["reasoning_effort"],
      },
      {
        title: "CONV-512 T34 TXT-16: xhigh becomes the highest level, which is reported",
        from: "responses",
        to,
        body: { reasoning: { effort: "xhigh" } },
        up: thinking({ thinkingLevel: "HIGH" }),
        reported: ["reasoning.effort"],
      },
      {
        title: "CONV-512: a token budget becomes thinkingBudget",
        from: "messages",
        to,
        body: { max_tokens: 4000, thinking: { type: "enabled", budget_tokens: 2000 } },
        up: thinking({ thinkingBudget: 2000 }),
        absent: ["thinking"],
      },
      {
        title: "CONV-512: adaptive thinking with an effort becomes its thinkingLevel",
        from: "messages",
        to,
        body: { thinking: { type: "adaptive" }, output_config: { effort: "medium" } },
        up: thinking({ thinkingLevel: "MEDIUM" }),
        absent: ["generationConfig.thinkingConfig.thinkingBudget"],
      },
      {
        title: "CONV-513: effort none becomes a thinkingBudget of 0",
        from: "responses",
        to,
        body: { reasoning: { effort: "none" } },
        up: thinking({ thinkingBudget: 0 }),
      },
      {
        title: "CONV-514: no thoughts are requested if reasoning is off",
        from: "responses",
        to,
        body: { reasoning: { effort: "none", summary: "auto" } },
        up: config({ thinkingConfig: { thinkingBudget: 0 } }),
        absent: ["generationConfig.thinkingConfig.includeThoughts"],
        reported: ["reasoning.summary"],
      },
      ...(["concise", "detailed", "auto"] as const).map((summary): Case => ({
        title: `CONV-514 RESP-26 TXT-16: summary ${summary} becomes includeThoughts, and its kind is dropped`,
        from: "responses",
        to,
        body: { reasoning: { summary } },
        up: thinking({ includeThoughts: true }),
        nowhere: [summary],
        reported: ["reasoning.summary"],
      })),
      {
        title: "CONV-515 CONV-113: verbosity is dropped",
        from: "chat",
        to,
        body: { verbosity: "low" },
        nowhere: ["verbosity"],
        reported: ["verbosity"],
      },
      {
        title: "CONV-515 CONV-113: text.verbosity is dropped",
        from: "responses",
        to,
        body: { text: { verbosity: "low" } },
        nowhere: ["verbosity"],
        reported: ["text.verbosity"],
      },
      ...(
        [
          ["chat", { user: "u1" }, "user"],
          ["responses", { user: "u1" }, "user"],
          ["messages", { metadata: { user_id: "u1" } }, "metadata.user_id"],
        ] as const
      ).map(([from, body, name]): Case => ({
        title: "CONV-516 CONV-113: the end-user id is dropped",
        from,
        to,
        body,
        nowhere: ["u1"],
        reported: [name],
      })),
      {
        title: "T31: prompt_cache_key does not reach a vendor without that field",
        from: "responses",
        to,
        body: { prompt_cache_key: "session-1" },
        nowhere: ["session-1"],
        reported: ["prompt_cache_key"],
      },
    ]),
  )("%s", (_title, one) => showCase(world, one));
});

const calling = (functionCallingConfig: Body): Body => ({ toolConfig: { functionCallingConfig } });

describe("the tools of a request to generateContent", () => {
  it.each(
    titled([
      ...(["chat", "responses", "messages"] as const).map((from): Case => ({
        title: "CONV-508: tools become functionDeclarations",
        from,
        to,
        body: toolsOf[from],
        up: {
          tools: [
            {
              functionDeclarations: [
                {
                  name: "look",
                  description: "Looks up a place",
                  parametersJsonSchema: { type: "object", required: ["where"] },
                },
              ],
            },
          ],
        },
      })),
      ...(
        [
          ["none", { mode: "NONE" }],
          ["auto", { mode: "AUTO" }],
          ["required", { mode: "ANY" }],
          [
            { type: "function", function: { name: "look" } },
            { mode: "ANY", allowedFunctionNames: ["look"] },
          ],
        ] as const
      ).map(([choice, wanted]): Case => ({
        title: `CONV-509: tool_choice ${JSON.stringify(choice)} is converted`,
        from: "chat",
        to,
        body: { ...toolsOf.chat, tool_choice: choice },
        up: calling(wanted),
        absent: ["tool_choice"],
      })),
      {
        title: "CONV-509 T29: a list of allowed tools is converted",
        from: "responses",
        to,
        body: {
          ...toolsOf.responses,
          tool_choice: {
            type: "allowed_tools",
            mode: "auto",
            tools: [{ type: "function", name: "look" }],
          },
        },
        up: calling({ mode: "VALIDATED", allowedFunctionNames: ["look"] }),
      },
      {
        title: "CONV-510 CONV-113: parallel_tool_calls is dropped",
        from: "chat",
        to,
        body: { ...toolsOf.chat, parallel_tool_calls: false },
        nowhere: ["parallel"],
        reported: ["parallel_tool_calls"],
      },
      {
        title: "CONV-510 CONV-113: disable_parallel_tool_use is dropped, and the choice is kept",
        from: "messages",
        to,
        body: {
          ...toolsOf.messages,
          tool_choice: { type: "any", disable_parallel_tool_use: true },
        },
        up: calling({ mode: "ANY" }),
        nowhere: ["parallel"],
        reported: ["tool_choice.disable_parallel_tool_use"],
      },
    ]),
  )("%s", (_title, one) => showCase(world, one));
});

const storeUri = "https://generativelanguage.googleapis.com/v1beta/files/abc";

describe("the content of a request to generateContent", () => {
  it.each(
    titled([
      {
        title: "CONV-517: a data URL becomes inlineData",
        from: "chat",
        to,
        body: user([{ type: "image_url", image_url: { url: pictureDataUrl } }]),
        up: parts({ inlineData: { mimeType: "image/png", data: pictureData } }),
      },
      {
        title: "CONV-517: base64 becomes inlineData",
        from: "messages",
        to,
        body: user([
          { type: "image", source: { type: "base64", media_type: "image/png", data: pictureData } },
        ]),
        up: parts({ inlineData: { mimeType: "image/png", data: pictureData } }),
      },
      ...[storeUri, "gs://bucket/cat.png"].map((uri): Case => ({
        title: "CONV-517: an address in the vendor's file store becomes fileData",
        from: "chat",
        to,
        body: user([{ type: "image_url", image_url: { url: uri } }]),
        up: parts({ fileData: { fileUri: uri } }),
      })),
      {
        title: "CONV-518 CONV-113: a picture by public URL is dropped, and the rest is sent",
        from: "chat",
        to,
        body: user([
          { type: "image_url", image_url: { url: pictureUrl } },
          { type: "text", text: "What is it?" },
        ]),
        up: parts({ text: "What is it?" }),
        nowhere: [pictureUrl, "fileData", "inlineData"],
        reported: ["messages.content.image_url"],
      },
      {
        title: "CONV-518: a picture by public URL from responses is dropped",
        from: "responses",
        to,
        body: {
          input: [{ role: "user", content: [{ type: "input_image", image_url: pictureUrl }] }],
        },
        nowhere: [pictureUrl],
        reported: ["input.content.input_image"],
      },
      {
        title: "CONV-519: no cache marker is sent",
        from: "messages",
        to,
        body: user([{ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }]),
        nowhere: ["cache_control", "ephemeral"],
        reported: ["messages.content.cache_control"],
      },
      {
        title: "CONV-606: a document is dropped, and the rest is sent",
        from: "messages",
        to,
        body: user([
          { type: "document", source: { type: "url", url: "https://papers.example/a.pdf" } },
          { type: "text", text: "Read it." },
        ]),
        up: parts({ text: "Read it." }),
        nowhere: ["a.pdf"],
        reported: ["messages.content.document"],
      },
    ]),
  )("%s", (_title, one) => showCase(world, one));
});
