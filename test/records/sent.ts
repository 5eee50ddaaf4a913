/** The body that a model's upstream receives, compared with its record. */
import { GatewayError } from "../../src/base/errors.ts";
import { removeUnsupported, type TextModel } from "../../src/catalog/index.ts";
import {
  codecs,
  createRoute,
  upstreamCodecs,
  type JsonObject,
  type ProtocolName,
  type UpstreamProtocol,
} from "../../src/protocols/index.ts";
import { faultsOf } from "./allows.ts";

/** The route of a request to a model, and the notes. @throws GatewayError if the request is refused */
export function routeOf(
  model: TextModel,
  [caller, upstream]: readonly [ProtocolName, UpstreamProtocol],
  given: JsonObject,
) {
  const { body, notes } = removeUnsupported(model, caller, given);
  const route = createRoute({
    caller: codecs[caller],
    upstream: upstreamCodecs[upstream],
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

/** The codes of allowed refusals: tool choices, and answers that have begun. */
const refusable = ["unsupported_parameter", "unsupported_content"];

/** The parts of the sent body that the record does not allow. Empty if the call is refused with an allowed code. */
export function faultsSent(
  model: TextModel,
  pair: readonly [ProtocolName, UpstreamProtocol],
  body: JsonObject,
) {
  try {
    return faultsOf(pair[1], routeOf(model, pair, body).route.body, model);
  } catch (error) {
    if (error instanceof GatewayError && refusable.includes(error.code)) return [];
    throw error;
  }
}
