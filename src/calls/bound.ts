/** What a text call may cost at most, which is reserved before it runs. docs/decisions.md. */
import { upperBound, type TextModel, type TextOffer } from "../catalog/index.ts";
import type { CallFacts, Route } from "../protocols/index.ts";

/** An offer that the call may go to, of a model with its limits. */
interface Offered {
  readonly offer: TextOffer;
  readonly limits: TextModel;
  route(): Pick<Route, "askedOutputTokens">;
}

/** What the call may cost at the dearest of its models, nano-USD. */
export function boundOf(
  candidates: readonly Offered[],
  facts: CallFacts,
  inputTokens: number,
): bigint {
  // A conversion may have to ask for more than the caller did, to leave room for reasoning.
  const sent =
    facts.maxOutputTokens === undefined ? undefined : candidates[0]!.route().askedOutputTokens;
  let bound = 0n;
  for (const model of new Set(candidates.map(({ limits }) => limits))) {
    const reserved = reservedOutput(model, facts.maxOutputTokens);
    const offers = candidates.filter(({ limits }) => limits === model).map(({ offer }) => offer);
    const most = upperBound(model, offers, {
      inputTokens,
      maxOutputTokens: Math.max(reserved, Math.min(sent ?? 0, model.maxOutputTokens)),
      answers: facts.answers,
      webSearches: facts.webSearches,
    });
    if (most > bound) bound = most;
  }
  return bound;
}

/** More than the model can produce is refused upstream, or produces no more than that. */
export const reservedOutput = (model: TextModel, asked: number | undefined): number =>
  Math.min(asked ?? model.reserveOutputTokens, model.maxOutputTokens);
