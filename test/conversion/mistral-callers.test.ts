/**
 * Requests of Mistral's own clients (@mistralai/mistralai 2.7.0, @ai-sdk/mistral 4.0.87, @langchain/mistralai 1.2.0): the tool choice `any`,
 * and an address in place of the object `image_url`. Mistral takes OpenAI's spellings too. CONV, T29.
 */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/protocols/index.ts";
import { pixel } from "../support/pixel.ts";
import { routeOf } from "./route.ts";

const url = `data:image/png;base64,${pixel}`;
const asked = (tool_choice: string): JsonObject => ({
  model: "acme/x",
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "What is it?" },
        { type: "image_url", image_url: url },
        { type: "image_url", image_url: { url, detail: "low" } },
      ],
    },
  ],
  tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
  tool_choice,
});

describe("a request of a client of Mistral", () => {
  it("goes to chat upstreams in OpenAI's spelling, without a report", () => {
    const { body, notes } = routeOf("chat", "chat", asked("any"), {
      upstreamModel: "mistral-large-latest",
    });
    expect(body).toMatchObject({
      messages: [
        {
          content: [
            { type: "text" },
            { type: "image_url", image_url: { url } },
            { type: "image_url", image_url: { url, detail: "low" } },
          ],
        },
      ],
      tool_choice: "required",
    });
    expect(notes).toEqual([]);
  });

  it.each([
    ["responses", { tool_choice: "required" }],
    ["messages", { tool_choice: { type: "any" } }],
    ["generate_content", { toolConfig: { functionCallingConfig: { mode: "ANY" } } }],
  ] as const)("T29: requires a call at %s, and shows the picture there", (upstream, choice) => {
    const { body } = routeOf("chat", upstream, asked("any"));
    expect(body).toMatchObject(choice);
    expect(JSON.stringify(body).split(pixel)).toHaveLength(3);
  });

  it("is unchanged otherwise", () => {
    const body = { ...asked("auto"), messages: [{ role: "user", content: "Hi" }] };
    expect(routeOf("chat", "chat", body).body).toMatchObject({
      tool_choice: "auto",
      messages: body.messages,
    });
  });
});
