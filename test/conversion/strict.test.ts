/**
 * Every conversion to a current model with its record: requests from transcripts and random requests must pass the checks of the
 * strict simulated vendors. CONV, ERR-12.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messages } from "../../sandbox/anthropic/messages.ts";
import { generateContent } from "../../sandbox/google/generate-content.ts";
import { chat } from "../../sandbox/openai/chat.ts";
import { responses } from "../../sandbox/openai/responses.ts";
import type { Call, Endpoint } from "../../sandbox/vendor.ts";
import { GatewayError } from "../../src/base/errors.ts";
import { removeUnsupported, type TextModel } from "../../src/catalog/index.ts";
import { ownModels } from "../../src/catalog/vendors.ts";
import {
  codecs,
  createRoute,
  protocolNames,
  type JsonObject,
  type ProtocolName,
} from "../../src/protocols/index.ts";
import { shortOrLong } from "../support/long.ts";
import { someRequest } from "../properties/requests.ts";
import { caseNames, readTranscript } from "../transcripts/transcript.ts";

const endpoints: Readonly<Record<ProtocolName, Endpoint>> = {
  chat,
  responses,
  messages,
  generate_content: generateContent,
};

const models = ["openai", "anthropic", "google"].flatMap(ownModels);
const targets = models.flatMap((model) =>
  model.offers.flatMap(({ protocol }) =>
    protocol === "converse" ? [] : [[model.id, protocol, model] as const],
  ),
);

interface ConversionCase {
  readonly model: TextModel;
  readonly caller: ProtocolName;
  readonly upstream: ProtocolName;
}

/** The simulated vendor's verdict on a request as sent. "taken" also if the gateway itself refuses it. */
function verdict({ model, caller, upstream }: ConversionCase, given: JsonObject): string {
  try {
    const { body } = removeUnsupported(model, caller, given);
    const route = createRoute({
      caller: codecs[caller],
      upstream: codecs[upstream],
      body,
      stream: false,
      requestedModel: model.id,
      model: model.id,
      upstreamModel: model.offers[0]!.upstreamModel,
      maxOutputTokens: model.maxOutputTokens,
      abilities: model,
      inputEstimate: 1,
      id: "01abc",
      createdAt: 1,
    });
    const call: Call = {
      headers: { "anthropic-version": "2023-06-01" },
      query: new URLSearchParams(),
      model: model.offers[0]!.upstreamModel,
      stream: false,
      body: route.body,
      files: [],
    };
    for (const check of endpoints[upstream].strict) check(call);
    return "taken";
  } catch (error) {
    if (error instanceof GatewayError && error.status === 400) return "taken";
    return (error as Error).message;
  }
}

describe.each(targets)("the strict simulated vendor of %s in %s", (_id, upstream, model) => {
  describe.each(protocolNames.filter((caller) => caller !== upstream))("from %s", (caller) => {
    const conversion = { model, caller, upstream };

    it.each(caseNames())("accepts the converted transcript %s", (name) => {
      const { request } = readTranscript(name).exchanges[caller];
      expect(verdict(conversion, structuredClone(request))).toBe("taken");
    });

    it("accepts any random converted request", () => {
      fc.assert(
        fc.property(someRequest(caller), (request) => {
          expect(verdict(conversion, codecs[caller].encodeRequest(request, model.id))).toBe(
            "taken",
          );
        }),
        { numRuns: shortOrLong(30, 100) },
      );
    });
  });
});
