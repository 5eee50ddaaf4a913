/** What several answers of the management API have in common, as schemas. */
import { Type } from "../../base/json-schema.ts";
import { timestamp } from "../shapes/schema.ts";
import { apiKeySchema } from "../shapes/key.ts";

const { spend_caps, spend, remaining, resets_at, model_allowlist, routing, rate_limits } =
  apiKeySchema.properties;

export const outOfScope = Type.Array(Type.String(), {
  description:
    "Entries of `model_allowlist` that cannot be called now, because a layer above, or the configuration, leaves them out. They come back by themselves.",
});

/** A layer that narrows what may be called. */
export const layerFields = { model_allowlist, routing, out_of_scope_models: outOfScope };

/** Caps, and how far they are used, and limits. */
export const spendFields = { spend_caps, spend, remaining, resets_at, rate_limits };

export const stamps = {
  created_at: timestamp("When it was made."),
  updated_at: timestamp("When it was last changed."),
};
