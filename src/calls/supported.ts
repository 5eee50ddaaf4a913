/**
 * Which of a model's parameters really reach a model: those that its offers' protocols lose in conversion are not listed. It uses the
 * limits that conversion of requests uses. MODELS-07; docs/protocols.md.
 */
import {
  isSpelledIn,
  modelAt,
  supportedParameters,
  type Catalog,
  type ParameterDomain,
  type TextOffer,
} from "../catalog/index.ts";
import { pricedParameters } from "../media/index.ts";
import { canonicalNames, upstreamCodecs } from "../protocols/index.ts";
import { isMediaModel, type CallableModel } from "../routing/index.ts";
import { marksSessions } from "./marks-sessions.ts";
import { parametersDropped } from "../upstream/index.ts";

/** The domains of the parameters that at least one offer carries; for a media model, of the priced parameters of its family. */
export function parametersOf(
  callable: CallableModel,
  { providers }: Pick<Catalog, "providers">,
): Record<string, ParameterDomain> {
  if (isMediaModel(callable)) {
    const { model, offers } = callable;
    const parameters = pricedParameters(
      model.family,
      offers.map(({ price }) => price),
    );
    const dropped = offers.map(({ provider, upstreamModel }) =>
      parametersDropped(providers.get(provider)!.dialect, model, upstreamModel),
    );
    const isCarried = (name: string) => dropped.some((names) => !names.has(name));
    return Object.fromEntries(Object.entries(parameters).filter(([name]) => isCarried(name)));
  }
  const { model, offers } = callable;
  if (model.kind === "embedding") return supportedParameters(model);
  const carried = (offers as readonly TextOffer[]).map((offer) => {
    const parameters = supportedParameters(modelAt(model, offer));
    return new Map(Object.entries(parameters).filter(([name]) => carries(offer, name)));
  });
  // A fixed order, whichever offer comes first.
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

function carries(offer: TextOffer, name: string): boolean {
  const { protocol } = offer;
  if (protocol === "chat" || name === "stream") return true;
  if (name === "prompt_cache_key" && marksSessions(offer)) return true;
  const field = canonicalNames[name];
  return field === undefined
    ? isSpelledIn(name, protocol)
    : !Object.hasOwn(upstreamCodecs[protocol].limits.unsupportedFields, field);
}
