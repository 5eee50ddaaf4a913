/** JSON output together with tools, at vendors or models that refuse the combination. Requirements: CONV-211, CONV-511, TXT-14. */
import { describe, expect, it } from "vitest";
import { vendorQuirks } from "../../src/catalog/index.ts";
import { at } from "../rows/protocols.ts";
import { routeOf } from "./route.ts";
import { toolsOf, user, type Body } from "./world.ts";

const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
const formats: readonly Body[] = [
  { response_format: { type: "json_object" } },
  { response_format: { type: "json_schema", json_schema: { name: "a", schema } } },
];

/** The tools, the tool mode and the answer format that are sent, and the parameters reported to the caller. */
function sent(upstreamModel: string, fields: Body) {
  const said = { model: "acme/x", ...user("Give me JSON."), ...fields };
  const { body, notes } = routeOf("chat", "generate_content", said, { upstreamModel });
  return {
    tools: at(body, "tools", 0, "functionDeclarations", 0, "name"),
    mode: at(body, "toolConfig", "functionCallingConfig", "mode"),
    mimeType: at(body, "generationConfig", "responseMimeType"),
    reported: notes.map(({ param }) => param),
  };
}

const json = "application/json";

describe.each(["gemini-2.5-flash", "gemini-2.0-flash-001"])("JSON output at %s", (model) => {
  it.each(formats)("CONV-511 TXT-14: loses the format, not the tools: %o", (format) => {
    const expected = {
      tools: "look",
      mode: undefined,
      mimeType: undefined,
      reported: ["response_format"],
    };
    expect(sent(model, { ...format, ...toolsOf.chat })).toEqual(expected);
  });

  it.each(formats)("CONV-511: keeps the format if no tool may be called: %o", (format) => {
    const fields = { ...format, ...toolsOf.chat, tool_choice: "none" };
    const expected = { tools: undefined, mode: undefined, mimeType: json, reported: [] };
    expect(sent(model, fields)).toEqual(expected);
  });

  it.each(formats)("CONV-511: keeps the format without tools: %o", (format) => {
    expect(sent(model, format)).toMatchObject({ mimeType: json, reported: [] });
  });

  it("CONV-511: keeps plain text, which is not a lost format", () => {
    const fields = { response_format: { type: "text" }, ...toolsOf.chat };
    expect(sent(model, fields)).toMatchObject({
      tools: "look",
      mimeType: "text/plain",
      reported: [],
    });
  });
});

it.each(formats)(
  "CONV-511: models of the third generation get both format and tools: %o",
  (format) => {
    const expected = { tools: "look", mode: undefined, mimeType: json, reported: [] };
    expect(sent("gemini-3.1-pro-preview", { ...format, ...toolsOf.chat })).toEqual(expected);
  },
);

describe("JSON output with tools at Groq, which refuses both together", () => {
  const groq = {
    id: "fast",
    baseUrl: "https://api.groq.com/openai/v1",
    dialect: "openai-compatible",
  } as const;
  const elsewhere = { ...groq, baseUrl: "https://api.example.com/v1" };
  const body = {
    model: "acme/x",
    input: "Give me JSON.",
    ...toolsOf.responses,
    text: { format: { type: "json_schema", name: "a", schema } },
  };
  const routed = (provider: Parameters<typeof vendorQuirks>[0]) =>
    routeOf("responses", "chat", body, vendorQuirks(provider));

  it("CONV-211 TXT-14: loses the format and keeps the tools", () => {
    const { body: sentBody, notes } = routed(groq);
    expect(sentBody).not.toHaveProperty("response_format");
    expect(at(sentBody, "tools", 0, "function", "name")).toBe("look");
    expect(notes.map(({ param }) => param)).toEqual(["text.format"]);
  });

  it("CONV-211: is sent completely to other providers", () => {
    const { body: sentBody, notes } = routed(elsewhere);
    expect(at(sentBody, "response_format", "type")).toBe("json_schema");
    expect(notes).toEqual([]);
  });
});
