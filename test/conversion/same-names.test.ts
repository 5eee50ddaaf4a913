/** Tools with the same name, as clients send them that join several MCP servers. Claude, Gemini and Bedrock refuse them. CONV; T24. */
import { describe, expect, it } from "vitest";
import { at } from "../rows/protocols.ts";
import { routeOf } from "./route.ts";
import type { Body } from "./world.ts";

const schema = (member: string): Body => ({
  type: "object",
  properties: { [member]: { type: "string" } },
});
const look = (member: string): Body => ({
  type: "function",
  function: { name: "look", parameters: schema(member) },
});
const other = { type: "function", function: { name: "other", parameters: schema("a") } };
const asked = (...tools: Body[]): Body => ({
  model: "acme/x",
  messages: [{ role: "user", content: "Hi" }],
  tools,
});

describe("tools with the same name", () => {
  it.each([
    ["messages", ["tools"], "input_schema"],
    ["responses", ["tools"], "parameters"],
    ["generate_content", ["tools", 0, "functionDeclarations"], "parametersJsonSchema"],
  ] as const)("T24: go to %s once, as the last of them", (to, place, member) => {
    const { body, notes } = routeOf("chat", to, asked(look("a"), other, look("b")));
    expect(at(body, ...place)).toMatchObject([
      { name: "look", [member]: schema("b") },
      { name: "other" },
    ]);
    expect(at(body, ...place)).toHaveLength(2);
    expect(notes).toMatchObject([{ param: "tools", kind: "dropped" }]);
  });

  it("T24: go to Bedrock once", () => {
    const { body } = routeOf("chat", "converse", asked(look("a"), look("b")));
    expect(at(body, "toolConfig", "tools")).toMatchObject([
      { toolSpec: { name: "look", inputSchema: { json: schema("b") } } },
    ]);
  });

  it("T24: are not reported if they are the same in all", () => {
    const { body, notes } = routeOf("chat", "messages", asked(look("a"), other, look("a")));
    expect(at(body, "tools")).toMatchObject([{ name: "look" }, { name: "other" }]);
    expect(at(body, "tools")).toHaveLength(2);
    expect(notes).toEqual([]);
  });

  it("CONV-509: a function and a custom tool both stay", () => {
    const custom = { type: "custom", custom: { name: "look", description: "d" } };
    const { body } = routeOf("chat", "messages", asked(look("a"), custom));
    expect(at(body, "tools")).toMatchObject([{ name: "look" }, { name: "look_custom" }]);
  });
});
