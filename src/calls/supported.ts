/**
 * Which of a model's parameters really reach a model: what its offers' protocols lose in conversion is not listed as
 * supported. One source for both: the limits by which requests are converted. MODELS-07; docs/protocols.md.
 */
import {
  isSpelledIn,
  supportedParameters,
  type Offer,
  type ParameterDomain,
} from "../catalog/index.ts";
import { mediaParameters } from "../media/index.ts";
import { canonicalNames, codecs } from "../protocols/index.ts";
import { isMediaModel, type CallableModel } from "../routing/index.ts";

/** The domains of the parameters that at least one of the offers carries; of a media model those of its family. */
export function parametersOf(callable: CallableModel): Record<string, ParameterDomain> {
  if (isMediaModel(callable)) return mediaParameters(callable.model.family);
  const { model, offers } = callable;
  const supported = Object.entries(supportedParameters(model));
  return Object.fromEntries(
    supported.filter(([name]) => offers.some((offer) => carries(offer.protocol, name))),
  );
}

function carries(protocol: Offer["protocol"], name: string): boolean {
  if (protocol === "embeddings" || protocol === "chat" || name === "stream") return true;
  const field = canonicalNames[name];
  return field === undefined
    ? isSpelledIn(name, protocol)
    : !Object.hasOwn(codecs[protocol].limits.lost, field);
}
