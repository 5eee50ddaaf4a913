/** Schemas of fields that several answers of the management API share. */
import { Type } from "../../base/json-schema.ts";
import { orNull, timestamp } from "../shapes/schema.ts";
import { apiKeySchema } from "../shapes/key.ts";

const { spend_caps, spend, remaining, resets_at, model_allowlist, routing, rate_limits } =
  apiKeySchema.properties;

const outOfScope = Type.Array(Type.String(), {
  description:
    "Entries of `model_allowlist` that cannot be called now, because a layer above, or the configuration, excludes them. They become available again automatically.",
});

const unknown = Type.Array(
  Type.Object({
    name: Type.String(),
    did_you_mean: orNull(
      Type.String({
        description: "The model of which it is an alias, or whose id is similar.",
      }),
    ),
    is_alias: Type.Boolean({
      description: "It is an alias of `did_you_mean`. An allowlist takes ids: use that id.",
    }),
  }),
  {
    description:
      "The first 20 entries of `model_allowlist` that are not the id of a model. They allow nothing until such a model is configured.",
  },
);

/** The fields that show the present meaning of an allowlist. */
export const scopeFields = { out_of_scope_models: outOfScope, unknown_models: unknown };

/** The fields of a layer that restricts models and routing. */
export const layerFields = { model_allowlist, routing, ...scopeFields };

/** The fields for spend caps, their use, and rate limits. */
export const spendFields = { spend_caps, spend, remaining, resets_at, rate_limits };

export const stamps = {
  created_at: timestamp("When it was made."),
  updated_at: timestamp("When it was last changed."),
};
