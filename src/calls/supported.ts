/**
 * Which of a model's parameters really reach a model: what its offers' protocols lose in conversion is not listed as
 * supported. One source for both: the limits by which requests are converted. MODELS-07; docs/protocols.md.
 */
import {
  isSpelledIn,
  modelAt,
  supportedParameters,
  type ParameterDomain,
  type TextOffer,
} from "../catalog/index.ts";
import { pricedParameters } from "../media/index.ts";
import { canonicalNames, upstreamCodecs } from "../protocols/index.ts";
import { isMediaModel, type CallableModel } from "../routing/index.ts";

/** The domains of the parameters that at least one of the offers carries; of a media model those of its family that have a price. */
export function parametersOf(callable: CallableModel): Record<string, ParameterDomain> {
  if (isMediaModel(callable)) {
    const prices = callable.offers.map(({ price }) => price);
    return pricedParameters(callable.model.family, prices);
  }
  const { model, offers } = callable;
  if (model.kind === "embedding") return supportedParameters(model);
  const carried = (offers as readonly TextOffer[]).map((offer) => {
    const parameters = supportedParameters(modelAt(model, offer));
    return new Map(Object.entries(parameters).filter(([name]) => carries(offer.protocol, name)));
  });
  // In one order, whichever offer comes first.
  const names = Object.keys(
    supportedParameters({ ...model, parameters: {}, reasoning: undefined }),
  );
  return Object.fromEntries(
    names.flatMap((name) => {
      const domain = carried.find((each) => each.has(name))?.get(name);
      return domain ? [[name, domain] as const] : [];
    }),
  );
}

function carries(protocol: TextOffer["protocol"], name: string): boolean {
  if (protocol === "chat" || name === "stream") return true;
  const field = canonicalNames[name];
  return field === undefined
    ? isSpelledIn(name, protocol)
    : !Object.hasOwn(upstreamCodecs[protocol].limits.lost, field);
}
