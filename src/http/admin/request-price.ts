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
  quantity: Type.String({ description: "Tokens, images, seconds, requests or searches." }),
  unit_price: usd("For one `per`."),
  per: words("million_tokens", "image", "second", "request", "search"),
  amount: usd("Exact: up to 15 decimals."),
});

export const priceMembers = {
  price_lines: orNull(
    Type.Array(priceLine, {
      description:
        "How the cost came about. The amounts add up to `cost` exactly: `rounding` is what rounding added, `limit` what was not charged because one call may not cost more. null: what made the cost is not known any more.",
    }),
  ),
  price_lines_from: orNull(
    Type.Unsafe<"call" | "catalog">({
      type: "string",
      enum: ["call", "catalog"],
      description:
        "`call`: by the price that was kept with the call. `catalog`: the call is older than that, and today's price leads to the same cost. null: no lines.",
    }),
  ),
};
