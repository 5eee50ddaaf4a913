/**
 * Requests that chat vendors refuse although the protocol allows them, and how they are sent. MiniMax, Moonshot, Cloudflare and LM Studio.
 * CONV-208, CONV-209; traps T23, T24, T29.
 */
import { describe, expect, it } from "vitest";
import { routeOf } from "./route.ts";
import type { Body } from "./world.ts";

const text = (value: string) => [{ role: "user", content: value }];
const paramsOf = (route: { notes: readonly { param: string }[] }) =>
  route.notes.map(({ param }) => param);

describe("a tool without arguments", () => {
  const empty = { type: "object", properties: {} };

  it.each([
    [
      "generate_content",
      {
        contents: [{ role: "user", parts: [{ text: "Go" }] }],
        tools: [{ functionDeclarations: [{ name: "go" }] }],
      },
    ],
    ["responses", { input: "Go", tools: [{ type: "function", name: "go", strict: false }] }],
  ] as const)("T24: from %s has an empty schema: MiniMax refuses none", (from, fields) => {
    const route = routeOf(from, "chat", { model: "acme/x", ...fields });
    expect(route.body["tools"]).toEqual([
      { type: "function", function: { name: "go", parameters: empty } },
    ]);
    expect(route.notes).toEqual([]);
  });
});

describe("the schema of a tool for Kimi", () => {
  const properties = {
    to: { type: "string", anyOf: [{ enum: ["a"] }, { type: "string", minLength: 3 }] },
    id: { type: "string", format: "uuid", $ref: "#/definitions/id" },
    level: { enum: [1, 2] },
    plain: { type: "integer" },
  };
  const definitions = { id: { type: "string", minLength: 1 } };
  const taken = {
    type: "object",
    properties: {
      to: {
        anyOf: [
          { type: "string", enum: ["a"] },
          { type: "string", minLength: 3 },
        ],
      },
      id: { format: "uuid", $ref: "#/$defs/id" },
      level: { type: "number", enum: [1, 2] },
      plain: { type: "integer" },
    },
    $defs: definitions,
  };
  const bodyWith = (schema: Body): Body => ({
    model: "acme/x",
    max_tokens: 9,
    messages: text("Go"),
    tools: [{ name: "go", input_schema: schema }],
  });
  const sent = (upstreamModel: string, schema: Body) => {
    const route = routeOf("messages", "chat", bodyWith(schema), { upstreamModel });
    const [tool] = route.body["tools"] as { function: Body }[];
    return { schema: tool!.function["parameters"], reported: paramsOf(route) };
  };
  const given = { type: "object", properties, definitions };

  it.each(["kimi-k3", "moonshotai/Kimi-K2.6"])(
    "T23: has types and references where %s takes them, and that is reported",
    (model) => {
      expect(sent(model, given)).toEqual({ schema: taken, reported: ["tools"] });
    },
  );

  it("T23: stays as it is if Kimi takes it, and for other models", () => {
    expect(sent("kimi-k3", taken)).toEqual({ schema: taken, reported: [] });
    expect(sent("glm-5.3", given)).toEqual({ schema: given, reported: [] });
  });
});
