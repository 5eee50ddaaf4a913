/** The catalogue's door: models, providers, offers and prices as data. Design section 8 "Configuration". */
export * from "./types.ts";
export { priceUsage } from "./price.ts";
export { estimateInputTokens, upperBound, type BoundFacts } from "./bound.ts";
export { sandboxCatalog } from "./sandbox.ts";
