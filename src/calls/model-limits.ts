/** The limits of the model that a call asks for; candidates with lower limits are compared to them. docs/routing.md. */
import { memoizeByObject } from "../base/memoize.ts";
import { modelAt, type TextModel } from "../catalog/index.ts";
import type { Plan } from "../routing/index.ts";

export interface ModelLimits extends Pick<TextModel, "contextLength" | "maxOutputTokens"> {
  /** The longest context among offers left out for their health; 0 if none is left out. */
  readonly contextLengthLeftOut: number;
}

/**
 * The maximum over the offers that may serve the call, whatever their health; over all offers of the model if there are none. Plans
 * are cached, and so is this.
 */
export const modelLimitsOf = memoizeByObject(({ model, offers, leftOut }: Plan): ModelLimits => {
  const serving = [...offers, ...leftOut];
  const all = serving.length > 0 ? serving : model.offers;
  const most = (of: typeof all, what: "contextLength" | "maxOutputTokens"): number =>
    Math.max(0, ...of.map((offer) => modelAt(model, offer)[what]));
  return {
    contextLength: most(all, "contextLength"),
    maxOutputTokens: most(all, "maxOutputTokens"),
    contextLengthLeftOut: most(leftOut, "contextLength"),
  };
});
