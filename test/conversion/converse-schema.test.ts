/**
 * Answer schemas towards Converse, which takes them as JSON text in `outputConfig` for models whose record says so.
 * docs/bedrock.md.
 */
import { describe, expect, it } from "vitest";
import { converseStrict } from "../../sandbox/bedrock/converse-strict.ts";
import {
  codecs,
  createRoute,
  protocolNames,
  upstreamCodecs,
  type JsonObject,
  type ProtocolName,
} from "../../src/protocols/index.ts";

const model = "qwen.qwen3-32b-v1:0";
const user = { role: "user", content: "Hi" };
const schema = {
  type: "object",
  properties: { age: { type: "integer", minimum: 0 }, name: { type: "string" } },
  required: ["age"],
};
const clean = {
  type: "object",
  properties: { age: { type: "integer", description: "{minimum: 0}" }, name: { type: "string" } },
  additionalProperties: false,
  required: ["age"],
};

/** Per caller: a request for a schema, and the field names that a loss reports. */
const schemaRequests: Readonly<Record<ProtocolName, { body: JsonObject; names: string[] }>> = {
  chat: {
    body: {
      model: "acme/talk",
      messages: [user],
      response_format: { type: "json_schema", json_schema: { name: "person", schema } },
    },
    names: ["response_format"],
  },
  responses: {
    body: {
      model: "acme/talk",
      input: [user],
      text: { format: { type: "json_schema", name: "person", schema } },
    },
    names: ["text.format"],
  },
  messages: {
    body: {
      model: "acme/talk",
      max_tokens: 100,
      messages: [user],
      output_config: { format: { type: "json_schema", schema } },
    },
    names: ["output_config.format"],
  },
  generate_content: {
    body: {
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
      generationConfig: { responseMimeType: "application/json", responseJsonSchema: schema },
    },
    names: ["generationConfig.responseJsonSchema", "generationConfig.responseMimeType"],
  },
};

const routeTo = (caller: ProtocolName, body: JsonObject, structuredOutputs?: boolean) =>
  createRoute({
    caller: codecs[caller],
    upstream: upstreamCodecs.converse,
    body,
    stream: false,
    requestedModel: "acme/talk",
    model: "acme/talk",
    upstreamModel: model,
    maxOutputTokens: 1000,
    abilities: { structuredOutputs },
    inputEstimate: 1,
    id: "01abc",
    createdAt: 1,
  });

/** The simulated vendor's error for a body. Undefined if it accepts the body. */
function refusal(body: JsonObject): string | undefined {
  const call = { headers: {}, query: new URLSearchParams(), model, stream: false, body, files: [] };
  try {
    for (const check of converseStrict) check(call);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const formatOf = (body: JsonObject) =>
  body["outputConfig"] as { textFormat: { structure: { jsonSchema: Record<string, string> } } };

describe.each(protocolNames)("an answer schema of a %s caller to Converse", (caller) => {
  const { body: asked, names } = schemaRequests[caller];

  it("is sent as JSON text if the model's record says that it takes one", () => {
    const { body, notes } = routeTo(caller, asked, true);
    expect(body["outputConfig"]).toMatchObject({ textFormat: { type: "json_schema" } });
    const sent = formatOf(body).textFormat.structure.jsonSchema;
    expect(JSON.parse(sent["schema"]!)).toEqual(clean);
    expect(sent["name"]).toBe(caller === "chat" || caller === "responses" ? "person" : undefined);
    expect(refusal(body)).toBeUndefined();
    const detail = "schema keywords the upstream refuses went into descriptions: minimum";
    expect(notes).toEqual([{ param: names[0], kind: "rewritten", detail }]);
  });

  it.each([undefined, false])(
    "is dropped and reported if the model's record says %s",
    (structured) => {
      const { body, notes } = routeTo(caller, asked, structured);
      expect(body).not.toHaveProperty("outputConfig");
      expect(notes.map(({ param, kind }) => `${kind} ${param}`).sort()).toEqual(
        names.map((name) => `dropped ${name}`),
      );
    },
  );
});

it("JSON output without a schema is dropped", () => {
  const body = { ...schemaRequests.chat.body, response_format: { type: "json_object" } };
  const route = routeTo("chat", body, true);
  expect(route.body).not.toHaveProperty("outputConfig");
  expect(route.notes).toMatchObject([{ param: "response_format", kind: "dropped" }]);
});

it.each([
  [{ type: "json" }, /type/],
  [{ type: "json_schema" }, /not be null/],
  [{ type: "json_schema", structure: { jsonSchema: { schema: "{}}" } } }, /is invalid/],
  [
    { type: "json_schema", structure: { jsonSchema: { schema: JSON.stringify(schema) } } },
    /additionalProperties must be false/,
  ],
] as [JsonObject, RegExp][])("the simulated vendor refuses %j", (textFormat, message) => {
  const { body } = routeTo("chat", { model: "acme/talk", messages: [user] });
  expect(refusal({ ...body, outputConfig: { textFormat } })).toMatch(message);
});
