/** What a model's upstream is sent of a request, beside what its record allows. */
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

/** The route of a request to a model, and what was noted on the way. @throws GatewayError what is refused */
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

/** What may be refused instead: choices of tools, and answers that have begun. */
const refusable = ["unsupported_parameter", "unsupported_content"];

/** What is sent and not allowed; nothing of a call that is refused for what may be. */
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
