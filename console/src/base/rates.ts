/** Lists the rates of a price, each with its unit. Pure. */

export interface PriceLine {
  readonly name: string;
  /** Decimal text of USD. */
  readonly amount: string;
  readonly per: string;
}

/** Units of rates that are not per million tokens. */
const units: Readonly<Record<string, string>> = {
  output_image: "an image",
  input_image: "an image",
  output_second: "a second",
  request: "a call",
  web_search: "a search",
  web_search_answer: "an answer with a search",
  file_search: "a search",
  map_search: "a search",
  map_answer: "an answer with a search",
  attachment_search: "a search",
  code_run: "a run",
  x_post: "a post",
  x_profile: "a profile",
};

const unitOf = (field: string): string => units[field] ?? "a million tokens";

function linesWithin(name: string, per: string, value: unknown): PriceLine[] {
  if (typeof value === "string") return [{ name: name.replaceAll("_", " "), amount: value, per }];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([step, inner]) =>
    linesWithin(`${name}, ${step}`, per, inner),
  );
}

/** Lists each rate of a price on its own line: `output image, high, 1024x1024`. */
export const priceLines = (price: object): readonly PriceLine[] =>
  Object.entries(price).flatMap(([field, value]) => linesWithin(field, unitOf(field), value));
