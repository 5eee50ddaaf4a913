/** The schema of a text model's price: tiers by input, hours, and prices with a start date. docs/models.md. */
import { weekdays } from "../base/days.ts";
import { Type, type Static, type TProperties } from "../base/json-schema.ts";
import { closed, count, day, moment, perMillion, usd } from "./schema-kit.ts";

export const textPriceSchema = closed(
  {
    input: perMillion("input tokens"),
    cache_read: Type.Optional(perMillion("tokens read from a prompt cache; as input if absent")),
    explicit_cache_read: Type.Optional(
      perMillion(
        "tokens read from a cache that markers in the request made, where the answer tells; as cache_read if absent",
      ),
    ),
    cache_write: Type.Optional(perMillion("tokens written to a prompt cache; as input if absent")),
    cache_write_1h: Type.Optional(
      perMillion("tokens cached for an hour; twice input, or cache_write if larger, if absent"),
    ),
    output: perMillion("output tokens"),
    reasoning: Type.Optional(perMillion("reasoning tokens; as output if absent")),
    audio_input: Type.Optional(perMillion("input tokens of sound; as input if absent")),
    audio_output: Type.Optional(perMillion("output tokens of sound; as output if absent")),
    image_output: Type.Optional(perMillion("output tokens of pictures; as output if absent")),
    request: Type.Optional(usd("USD per call")),
    web_search: Type.Optional(usd("USD per web search that ran at the vendor")),
    web_search_answer: Type.Optional(
      usd("USD per answer for which the vendor searched the web, however often"),
    ),
    file_search: Type.Optional(usd("USD per search in files that the vendor keeps")),
    map_search: Type.Optional(usd("USD per search in Google Maps that ran at the vendor")),
    map_answer: Type.Optional(
      usd("USD per answer for which the vendor searched Google Maps, however often"),
    ),
    attachment_search: Type.Optional(usd("USD per search in the files of a request")),
    code_run: Type.Optional(usd("USD per run of code, where the vendor reports the runs")),
    x_post: Type.Optional(usd("USD per post that a search in X fetched")),
    x_profile: Type.Optional(usd("USD per profile that a search in X fetched")),
    image_tool_input: Type.Optional(perMillion("text tokens into the vendor's own image tool")),
    image_tool_image_input: Type.Optional(
      perMillion("image tokens into the vendor's own image tool"),
    ),
    image_tool_output: Type.Optional(perMillion("tokens out of the vendor's own image tool")),
  },
  "the price of a call; the total of a call is rounded up, once, to a whole nano-dollar (0.000000001 USD)",
);

const tier = {
  input_tokens: count("the tier applies to calls with more input tokens than this"),
  price: textPriceSchema,
};

/** `price_above` where there is one tier, `price_tiers` where there are several. */
const priceTiers = {
  price_above: Type.Optional(
    closed(tier, "the long-context tier; its price applies to the whole call"),
  ),
  price_tiers: Type.Optional(
    Type.Array(closed(tier), {
      minItems: 1,
      description:
        "several tiers, by rising input_tokens, instead of price_above; the highest tier that a call exceeds applies to the whole call",
    }),
  ),
};

/** One price with its tiers. */
const fixedPrice = { price: textPriceSchema, ...priceTiers };

const time = "([01]\\d|2[0-3]):[0-5]\\d";

/** `price_hours`, beside a price of the same form. */
const hoursOf = <Price extends TProperties>(price: Price, replaced: string) => ({
  price_hours: Type.Optional(
    Type.Array(
      closed({
        hours_utc: Type.Array(
          Type.String({
            pattern: `^${time}-(${time}|24:00)$`,
            description:
              'hours of a day in UTC, such as "01:00-04:00"; "22:00-06:00" ends on the next day',
          }),
          {
            minItems: 1,
            description: "when the price applies; at the end of a span it no longer does",
          },
        ),
        days: Type.Optional(
          Type.Array(Type.Enum([...weekdays]), {
            minItems: 1,
            uniqueItems: true,
            description: "the days in UTC on which the hours begin; every day if absent",
          }),
        ),
        except: Type.Optional(
          Type.Array(day("a day in UTC on which the hours do not begin"), {
            minItems: 1,
            description: "days without these hours, such as holidays",
          }),
        ),
        ...price,
      }),
      {
        minItems: 1,
        description: `other prices at some hours; the first entry that includes the time of a call's admission replaces ${replaced}`,
      },
    ),
  ),
});

const priceHours = hoursOf(fixedPrice, "price and tiers");

const embeddingPriceSchema = closed({
  input: perMillion("input tokens"),
  request: Type.Optional(usd("USD per call")),
});
const embeddingHours = hoursOf({ price: embeddingPriceSchema }, "the price");

/** The keys of an embedding offer's price. */
export const embeddingPriceKeys = { price: embeddingPriceSchema, ...embeddingHours };

/** An entry of `prices` for an embedding model. */
export const ownEmbeddingPriceSchema = closed({
  ...embeddingPriceSchema.properties,
  ...embeddingHours,
});

/** An entry of `prices`: the rates, and the tiers and hours beside them. */
export const ownTextPriceSchema = closed({
  ...textPriceSchema.properties,
  ...priceTiers,
  ...priceHours,
});

/** The keys of a text offer's price. */
export const priceKeys = {
  ...fixedPrice,
  ...priceHours,
  later_prices: Type.Optional(
    Type.Array(
      closed({ from: moment("when the price takes effect"), ...fixedPrice, ...priceHours }),
      {
        minItems: 1,
        description: "later prices, the earliest first; each replaces the previous one at its time",
      },
    ),
  ),
};

const priced = Type.Object(priceKeys);
export type PriceRow = Static<typeof priced>;
const embeddingPriced = Type.Object(embeddingPriceKeys);
export type EmbeddingPriceRow = Static<typeof embeddingPriced>;
export type OwnEmbeddingPriceRow = Static<typeof ownEmbeddingPriceSchema>;
export type OwnTextPriceRow = Static<typeof ownTextPriceSchema>;
export type TextPriceRow = Static<typeof textPriceSchema>;
