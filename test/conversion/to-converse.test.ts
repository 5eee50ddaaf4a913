/** Every conversion to Converse: requests from transcripts and random ones must pass the checks of the strict simulated vendor. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { converseStrict } from "../../sandbox/bedrock/converse-strict.ts";
import { GatewayError } from "../../src/base/errors.ts";
import {
  codecs,
  createRoute,
  protocolNames,
  upstreamCodecs,
  type JsonObject,
  type ProtocolName,
  type Route,
} from "../../src/protocols/index.ts";
import { someRequest } from "../properties/requests.ts";
import { caseNames, readTranscript } from "../transcripts/transcript.ts";

const models = [
  "us.amazon.nova-2-lite-v1:0",
  "us.meta.llama4-scout-17b-instruct-v1:0",
  "mistral.mistral-large-3-675b-instruct",
  "us.writer.palmyra-x5-v1:0",
  "qwen.qwen3-vl-235b-a22b",
  "openai.gpt-oss-120b-1:0",
];

function routeTo(model: string, caller: ProtocolName, body: JsonObject): Route | undefined {
  try {
    return createRoute({
      caller: codecs[caller],
      upstream: upstreamCodecs.converse,
      body,
      stream: false,
      requestedModel: "acme/talk",
      model: "acme/talk",
      upstreamModel: model,
      maxOutputTokens: 8000,
      abilities: {
        reasoning: {
          kind: "effort",
          off: true,
          values: ["low", "medium", "high"],
          ...(model.includes("nova") ? { field: "reasoning_config" as const } : {}),
        },
      },
      inputEstimate: 1,
      id: "01abc",
      createdAt: 1,
    });
  } catch (error) {
    if (error instanceof GatewayError && error.status === 400) return undefined;
    throw error;
  }
}

/** The simulated vendor's verdict on a request as sent. "taken" also if the gateway itself refuses it. */
function verdict(model: string, caller: ProtocolName, given: JsonObject): string {
  const route = routeTo(model, caller, given);
  if (!route) return "taken";
  const { body } = route;
  const call = { headers: {}, query: new URLSearchParams(), model, stream: false, body, files: [] };
  try {
    for (const check of converseStrict) check(call);
    return "taken";
  } catch (error) {
    return (error as Error).message;
  }
}

describe.each(models)("the simulated Converse model %s", (model) => {
  describe.each(protocolNames)("for requests of %s", (caller) => {
    it.each(caseNames())("accepts the converted transcript %s", (name) => {
      const { request } = readTranscript(name).exchanges[caller];
      expect(verdict(model, caller, structuredClone(request))).toBe("taken");
    });

    it("accepts any random converted request", () => {
      fc.assert(
        fc.property(someRequest(caller), (request) => {
          const body = codecs[caller].encodeRequest(request, "acme/talk");
          expect(verdict(model, caller, body)).toBe("taken");
        }),
      );
    });
  });
});

it.each([
  ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", ["END"]],
  ["us.amazon.nova-2-lite-v1:0", ["\n", "END"]],
])("CONV-407: stop sequences for %s become %j: Claude refuses white space", (model, sent) => {
  const messages = [{ role: "user", content: "Hi" }];
  const body = { model: "acme/talk", messages, stop: ["\n", "END"] };
  expect(routeTo(model, "chat", body)?.body["inferenceConfig"]).toEqual({ stopSequences: sent });
});

it.each([
  ["", false],
  [[], true],
  [[{ type: "text", text: " " }], true],
])("CONV-604 T25: a tool result of %j says that it is empty", (content, is_error) => {
  const result = { type: "tool_result", tool_use_id: "toolu_1", content, is_error };
  const messages = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "f", input: {} }] },
    { role: "user", content: [result] },
  ];
  const tools = [{ name: "f", input_schema: { type: "object" } }];
  const body = { model: "acme/talk", max_tokens: 9, messages, tools };
  expect(verdict(models[0]!, "messages", body)).toBe("taken");
  const toolResult = {
    toolUseId: "toolu_1",
    content: [{ text: "(no content)" }],
    ...(is_error ? { status: "error" } : {}),
  };
  expect(routeTo(models[0]!, "messages", body)?.body["messages"]).toContainEqual({
    role: "user",
    content: [{ toolResult }],
  });
});
