/**
 * Tool results towards generateContent are a content of their own. Gemini 3.6 and later refuse a request in which a text or a picture
 * stands beside a result; agents add such texts to most results. CONV-601; traps T20, T27.
 */
import { describe, expect, it } from "vitest";
import { routeOf } from "./route.ts";
import { byName, type Body } from "./world.ts";

const picture = "iVBORw0KGgo=";
const url = `data:image/png;base64,${picture}`;
const use = { type: "tool_use", id: "c1", name: "look", input: {} };
const call = { id: "c1", type: "function", function: { name: "look", arguments: "{}" } };
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: picture } };

/** Each conversation ends with a tool result and more words of the user. */
const conversations = {
  messages: {
    messages: [
      { role: "user", content: "Where?" },
      { role: "assistant", content: [use] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c1", content: "Here." },
          { type: "text", text: "<system-reminder>" },
          image,
        ],
      },
    ],
  },
  chat: {
    messages: [
      { role: "user", content: "Where?" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "Here." },
      {
        role: "user",
        content: [
          { type: "text", text: "<system-reminder>" },
          { type: "image_url", image_url: { url } },
        ],
      },
    ],
  },
  responses: {
    input: [
      { role: "user", content: "Where?" },
      { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
      {
        role: "user",
        content: [
          { type: "input_text", text: "<system-reminder>" },
          { type: "input_image", image_url: url },
        ],
      },
      { type: "function_call_output", call_id: "c1", output: "Here." },
    ],
  },
} as const;

/** The members of each content's parts. */
const shapeOf = (from: keyof typeof conversations, upstreamModel: string) => {
  const body = { ...byName[from].body("acme/x", false), ...conversations[from] };
  const { body: sent } = routeOf(from, "generate_content", body, { upstreamModel });
  return (sent["contents"] as { role: string; parts: Body[] }[]).map(({ role, parts }) => [
    role,
    ...parts.map((part) => Object.keys(part).filter((key) => key !== "thoughtSignature")[0]),
  ]);
};

describe("tool results towards generateContent", () => {
  for (const from of ["messages", "chat", "responses"] as const)
    it.each(["gemini-3.8-flash", "gemini-2.5-pro"])(
      `CONV-601 T20 T27: stand apart from the user's words, from ${from} (%s)`,
      (model) => {
        expect(shapeOf(from, model)).toEqual([
          ["user", "text"],
          ["model", "functionCall"],
          ["user", "functionResponse"],
          ["user", "text", "inlineData"],
        ]);
      },
    );
});
