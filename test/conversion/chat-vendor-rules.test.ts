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
