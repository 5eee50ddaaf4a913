/** The catalogue's door: models, providers, offers and prices as data. Design section 8 "Configuration". */
export * from "./types.ts";
export { priceUsage } from "./price.ts";
export { estimateInputTokens, upperBound, type BoundFacts } from "./bound.ts";
export {
  checkParameters,
  isSpelledIn,
  removeUnsupported,
  supportedParameters,
} from "./parameters.ts";
export { sandboxCatalog } from "./sandbox.ts";
export { environmentCatalog } from "./vendors.ts";
export {
  checkConfig,
  loadConfig,
  mergeCatalogs,
  type Config,
  type ConfigOptions,
  type ConfigResult,
} from "./config.ts";
export { defaultSettings, type Settings } from "./settings.ts";
export { configSchema } from "./schema.ts";
export { modelRow, printConfig, providerRow } from "./print.ts";
export { watchConfig, type ConfigWatch, type WatchOptions } from "./watch.ts";
export { formatMistakes, type Mistake } from "./mistakes.ts";
