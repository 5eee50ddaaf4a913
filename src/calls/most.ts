/** What the model that a call asks for takes and produces at most: candidates that do less are measured by it. docs/routing.md. */
import { perObject } from "../base/made-once.ts";
import { modelAt, type TextModel } from "../catalog/index.ts";
import type { Plan } from "../routing/index.ts";

export interface Most extends Pick<TextModel, "contextLength" | "maxOutputTokens"> {
  /** The longest context of those that are left out for their health; 0: none is. */
  readonly contextLengthOut: number;
}

/** By those that may serve the call, whatever their health; by paused ones where no others are. Plans are kept, and so is this. */
export const mostOf = perObject(({ model, offers, leftOut }: Plan): Most => {
  const serving = [...offers, ...leftOut];
  const all = serving.length > 0 ? serving : model.offers;
  const most = (of: typeof all, what: "contextLength" | "maxOutputTokens"): number =>
    Math.max(0, ...of.map((offer) => modelAt(model, offer)[what]));
  return {
    contextLength: most(all, "contextLength"),
    maxOutputTokens: most(all, "maxOutputTokens"),
    contextLengthOut: most(leftOut, "contextLength"),
  };
});
