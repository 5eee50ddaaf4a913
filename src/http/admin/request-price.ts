/** The price of a call line by line, as the management API shows it. docs/management.md. */
import { Type } from "../../base/json-schema.ts";
import { orNull, usd } from "../shapes/schema.ts";
import { words } from "./schemas.ts";

const priceLine = Type.Object({
  name: Type.String({
    examples: [
      "input_tokens",
      "cache_read_tokens",
      "output_images",
      "requests",
      "cached_answer",
      "rounding",
      "limit",
    ],
  }),
  quantity: Type.String({
    description:
      "Tokens, images, seconds, requests, searches or items (posts, profiles, runs of code).",
  }),
  unit_price: usd("Price for one `per`."),
  per: words("million_tokens", "image", "second", "request", "search", "item"),
  amount: usd("Exact: up to 15 decimals."),
});

export const priceMembers = {
  price_lines: orNull(
    Type.Array(priceLine, {
      description:
        "The cost line by line. The amounts add up to `cost` exactly. `rounding` is the amount added by rounding. `limit` is the amount not charged because one call may not cost more. null: the lines are no longer known.",
    }),
  ),
  price_lines_from: orNull(
    Type.Unsafe<"call" | "catalog">({
      type: "string",
      enum: ["call", "catalog"],
      description:
        "`call`: by the price that was stored with the call. `catalog`: an older call without a stored price; today's price gives the same cost. null: no lines.",
    }),
  ),
};
