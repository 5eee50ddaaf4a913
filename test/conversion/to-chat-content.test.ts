/** Tools and content towards a chat-completions upstream. CONV-208 to CONV-210, CONV-216, CONV-217, CONV-219. */
import { describe, expect, it } from "vitest";
import { vendorQuirks } from "../../src/catalog/index.ts";
import { routeOf } from "./route.ts";
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
  type Name,
} from "./world.ts";

const world = conversions();

const to = "chat";
const chatTool = [{ type: "function", function: { name: "look" } }];
const callingConfig = (functionCallingConfig: Body): Body => ({
  toolConfig: { functionCallingConfig },
});
const choices: readonly (readonly [Name, Body, unknown])[] = [
  ["responses", { tool_choice: "none" }, "none"],
  ["responses", { tool_choice: "auto" }, "auto"],
  ["responses", { tool_choice: "required" }, "required"],
  [
    "responses",
    { tool_choice: { type: "function", name: "look" } },
    { type: "function", function: { name: "look" } },
  ],
  ["messages", { tool_choice: { type: "none" } }, "none"],
  ["messages", { tool_choice: { type: "auto" } }, "auto"],
  ["messages", { tool_choice: { type: "any" } }, "required"],
  [
    "messages",
    { tool_choice: { type: "tool", name: "look" } },
    { type: "function", function: { name: "look" } },
  ],
  ["generate_content", callingConfig({ mode: "NONE" }), "none"],
  ["generate_content", callingConfig({ mode: "AUTO" }), "auto"],
  ["generate_content", callingConfig({ mode: "ANY" }), "required"],
  [
    "generate_content",
    callingConfig({ mode: "ANY", allowedFunctionNames: ["look"] }),
    { type: "function", function: { name: "look" } },
  ],
];

describe("the tools of a request to chat completions", () => {
  it.each(
    titled([
      ...(["responses", "messages", "generate_content"] as const).map((from): Case => ({
        title: "CONV-208 RESP-14: tools get the nested form",
        from,
        to,
        body: toolsOf[from],
        up: {
          tools: [
            {
              type: "function",
              function: {
                name: "look",
                description: "Looks up a place",
                parameters: { type: "object", required: ["where"] },
              },
            },
          ],
        },
      })),
      ...choices.map(([from, choice, wanted]): Case => ({
        title: `CONV-209: the choice ${JSON.stringify(choice)} is converted`,
        from,
        to,
        body: { ...toolsOf[from], ...choice },
        up: { tools: chatTool, tool_choice: wanted },
        absent: ["toolConfig"],
      })),
      ...[true, false].map((disabled): Case => ({
        title: `CONV-210: disable_parallel_tool_use ${disabled} is inverted`,
        from: "messages",
        to,
        body: {
          ...toolsOf.messages,
          tool_choice: { type: "auto", disable_parallel_tool_use: disabled },
        },
        up: { parallel_tool_calls: !disabled, tool_choice: "auto" },
      })),
      {
        title: "CONV-210: parallel_tool_calls is unchanged",
        from: "responses",
        to,
        body: { ...toolsOf.responses, parallel_tool_calls: false },
        up: { parallel_tool_calls: false },
      },
      {
        title: "CONV-209 T29: a vendor without allowed_tools gets only the allowed tools",
        from: "responses",
        to,
        body: {
          tools: ["look", "other"].map((name) => ({ type: "function", name })),
          tool_choice: {
            type: "allowed_tools",
            mode: "required",
            tools: [{ type: "function", name: "look" }],
          },
        },
        up: { tool_choice: "required", tools: [{ function: { name: "look" } }] },
        absent: ["tools.1"],
      },
    ]),
  )("%s", (_title, one) => showCase(world, one));
});

it.each(["openai", "azure"] as const)(
  "CONV-209 T29: %s gets allowed_tools as a list",
  (dialect) => {
    const quirks = vendorQuirks({ id: "up", baseUrl: "https://up.example/v1", dialect });
    const tool_choice = {
      type: "allowed_tools",
      mode: "auto",
      tools: [{ type: "function", name: "look" }],
    };
    const body = { model: "acme/x", input: "Hi", ...toolsOf.responses, tool_choice };
    expect(routeOf("responses", "chat", body, quirks).body["tool_choice"]).toEqual({
      type: "allowed_tools",
      allowed_tools: { mode: "auto", tools: chatTool },
    });
  },
);

const base64Source = { type: "base64", media_type: "image/png", data: pictureData };
const history = (...parts: Body[]): Body => ({
  messages: [
    { role: "user", content: "Hi" },
    { role: "assistant", content: [...parts, { type: "text", text: "Hello" }] },
    { role: "user", content: "Go on" },
  ],
});

describe("the content of a request to chat completions", () => {
  it.each(
    titled([
      {
        title: "CONV-216: pictures are sent as base64 and by URL",
        from: "responses",
        to,
        body: {
          input: [
            {
              role: "user",
              content: [
                { type: "input_text", text: "What is it?" },
                { type: "input_image", image_url: pictureDataUrl, detail: "high" },
                { type: "input_image", image_url: pictureUrl },
              ],
            },
          ],
        },
        up: user([
          { type: "text", text: "What is it?" },
          { type: "image_url", image_url: { url: pictureDataUrl, detail: "high" } },
          { type: "image_url", image_url: { url: pictureUrl } },
        ]),
      },
      {
        title: "CONV-216: a detail that only responses has becomes high",
        from: "responses",
        to,
        body: {
          input: [
            {
              role: "user",
              content: [{ type: "input_image", image_url: pictureUrl, detail: "original" }],
            },
          ],
        },
        up: user([{ type: "image_url", image_url: { url: pictureUrl, detail: "high" } }]),
        reported: ["input.content.detail"],
      },
      {
        title: "CONV-216: pictures are sent as base64 and by URL",
        from: "messages",
        to,
        body: user([
          { type: "image", source: base64Source },
          { type: "image", source: { type: "url", url: pictureUrl } },
        ]),
        up: user([
          { type: "image_url", image_url: { url: pictureDataUrl } },
          { type: "image_url", image_url: { url: pictureUrl } },
        ]),
      },
      {
        title: "CONV-217: no cache marker is sent, from any place",
        from: "messages",
        to,
        body: {
          system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
          tools: [
            { ...(toolsOf.messages["tools"] as Body[])[0], cache_control: { type: "ephemeral" } },
          ],
          ...user([{ type: "text", text: "Hi", cache_control: { type: "ephemeral", ttl: "1h" } }]),
          cache_control: { type: "ephemeral" },
        },
        nowhere: ["cache_control", "ephemeral"],
        reported: [
          "messages.content.cache_control",
          "system.cache_control",
          "tools.cache_control",
          "cache_control",
        ],
      },
      {
        title: "CONV-219: thinking is sent without its signature",
        from: "messages",
        to,
        body: history({ type: "thinking", thinking: "Let me see.", signature: "c2lnbmVk" }),
        up: { messages: [{}, { role: "assistant", reasoning_content: "Let me see." }, {}] },
        nowhere: ["c2lnbmVk", "signature"],
        reported: ["messages.content.signature"],
      },
      {
        title: "CONV-219: redacted thinking is not sent",
        from: "messages",
        to,
        body: history({ type: "redacted_thinking", data: "c2VjcmV0" }),
        nowhere: ["c2VjcmV0"],
        reported: ["messages.content.signature"],
      },
      {
        title: "RESP-27: encrypted reasoning is not carried to another protocol",
        from: "responses",
        to,
        body: {
          input: [
            { role: "user", content: "Hi" },
            { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "c2VjcmV0" },
            { role: "assistant", content: "Hello" },
            { role: "user", content: "Go on" },
          ],
        },
        nowhere: ["c2VjcmV0"],
        reported: ["input.encrypted_content"],
      },
    ]),
  )("%s", (_title, one) => showCase(world, one));
});
