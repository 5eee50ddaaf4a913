/** Every built-in model, and every parameter of every protocol: only what the record allows is sent. docs/models.md; MODELS-07, ERR-12. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
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
import { inForm } from "../support/long.ts";
import { faultsOf } from "./allows.ts";
import { anyRequest, fullRequest } from "./requests.ts";

/** Our own records; those of the public list say less. */
const models = ["openai", "anthropic", "google", "xai", "dashscope", "ark"].flatMap(ownModels);
const offers = models.flatMap((model) => model.offers.map((offer) => [model, offer] as const));

function routeOf(
  model: TextModel,
  [caller, upstream]: readonly [ProtocolName, ProtocolName],
  given: JsonObject,
) {
  const { body, notes } = removeUnsupported(model, caller, given);
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
    inputMedia: 0,
    inputEstimate: 1,
    id: "id",
    createdAt: 0,
  });
  return { route, notes: [...notes, ...route.notes] };
}

/** What may be refused instead: choices of tools, and answers that have begun. */
const refusable = ["unsupported_parameter", "unsupported_content"];

/** What is sent and not allowed; nothing of a call that is refused for what may be. */
function faultsSent(
  model: TextModel,
  pair: readonly [ProtocolName, ProtocolName],
  body: JsonObject,
) {
  try {
    return faultsOf(pair[1], routeOf(model, pair, body).route.body, model);
  } catch (error) {
    if (error instanceof GatewayError && refusable.includes(error.code)) return [];
    throw error;
  }
}

describe.each(offers)("$id", (model, { protocol }) => {
  it.each(protocolNames)("every parameter of %s at once", (caller) => {
    const { route, notes } = routeOf(model, [caller, protocol], fullRequest(caller));
    expect(faultsOf(protocol, route.body, model)).toEqual([]);
    // What its own vendor would refuse is reported where it is not sent; faults without a space are names.
    const refused = caller === protocol ? faultsOf(protocol, fullRequest(caller), model) : [];
    const names = refused.filter((fault) => !fault.includes(" "));
    expect(notes.map(({ param }) => param)).toEqual(expect.arrayContaining(names));
  });

  it.each(protocolNames)("any parameters of %s", (caller) => {
    fc.assert(
      fc.property(anyRequest(caller), (body) => {
        expect(faultsSent(model, [caller, protocol], body)).toEqual([]);
      }),
      { numRuns: inForm(60, 2000) },
    );
  });
});

describe("the records", () => {
  it("there is one for each built-in model, with what goes in and how it reasons", () => {
    const incomplete = models.filter(
      ({ reasoning, inputModalities, outputModalities }) =>
        !reasoning || !inputModalities || !outputModalities,
    );
    expect(models.length).toBeGreaterThan(5);
    expect(incomplete.map(({ id }) => id)).toEqual([]);
  });
});
