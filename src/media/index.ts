/** The meaning of an image or video call: families, fields, usage and prices. `src/upstream` asks the vendors. */
export type * from "./types.ts";
export { isImageField } from "./files.ts";
export { referencesMax } from "./material.ts";
export { fieldsOf, readMedia } from "./read.ts";
export type { ProducedFormat } from "./image-tokens.ts";
export {
  imageTokenTotals,
  mediaBound,
  mediaUsage,
  nothingUsed,
  plausibleSeconds,
  requestedResults,
} from "./usage.ts";
export { storedPrice, partsAt, priceOfStored, type AnyPrice } from "./kept-price.ts";
export { priceMedia } from "./price.ts";
export { expirySeconds, mediaAddresses } from "./addresses.ts";
export { mediaParameters, pricedParameters } from "./parameters.ts";
export { families } from "./families/index.ts";
export type { MediaFamily } from "./family.ts";
