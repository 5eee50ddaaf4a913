/** Public exports of the catalogue: models, providers, offers and prices as data. docs/configuration.md. */
export * from "./types.ts";
export * from "./price-types.ts";
export { wholeTimeouts } from "./timeouts.ts";
export { dialectRows, type Dialect, type DialectRow } from "./dialects.ts";
export { callEndpoints, mediaFamilies, type ImageFamily, type VideoFamily } from "./families.ts";
export type * from "./access.ts";
export { accessSecrets } from "./access-build.ts";
export * from "../base/abilities.ts";
export * from "./record.ts";
export {
  addedProvider,
  buildAdded,
  catalogWithout,
  shownProvider,
  type AddedProvider,
  type BuiltProvider,
} from "./added.ts";
export { checkAdded } from "./added-check.ts";
export { providerRows } from "./file-rows.ts";
export { keyMistake, keyMistakes } from "./key-form.ts";
export { layeredCatalog, polledProviders } from "./layers.ts";
export { isOlderAzure, placedAddress } from "./cloud-hosts.ts";
export { catalogAt, isCallable, pricesInForce, type CallableModel } from "./in-force.ts";
export { isPattern, modelNames, type ModelNames } from "./names.ts";
export {
  audioCacheReadRate,
  hasHourWrites,
  hourWriteRate,
  priceUsage,
  usageParts,
} from "./price.ts";
export { toolRates } from "./tool-rates.ts";
export { estimateInputTokens, upperBound, type BoundFacts } from "./bound.ts";
export {
  checkParameters,
  isSpelledIn,
  removeUnsupported,
  spellingOf,
  supportedParameters,
} from "./parameters.ts";
export type { MediaDialectName } from "./media-dialects.ts";
export { sandboxCatalog } from "./sandbox.ts";
export { environmentCatalog, environmentSource } from "./environment-catalog.ts";
export { withOwnPrices, type OwnPriceFindings } from "./own-prices.ts";
export { hasVendors, withoutFileVendors, presetMistakes } from "./presets.ts";
export { refusedParameters, vendorQuirks } from "./vendor-quirks.ts";
export { decimalOf } from "./list/decimal.ts";
export { listDiff, type ListDiff } from "./list/diff.ts";
export { listedModels, listText, shippedList, vendorRows } from "./list/shipped.ts";
export type { VendorRow } from "./list/types.ts";
export { localCatalog, localModels, localProviders, localRows } from "./local-servers.ts";
export { vendorStates, type VendorState } from "./vendor-states.ts";
export { readPublicList, type ListMistake } from "./list/public-list.ts";
export {
  checkConfig,
  loadConfig,
  mergeCatalogs,
  type Config,
  type ConfigResult,
} from "./config.ts";
export type { HookSettings } from "./hooks.ts";
export type { HookEndpoint } from "./hooks-schema.ts";
export { defaultSettings, type Settings } from "./settings.ts";
export type { ServerTls } from "./tls-files.ts";
export { configSchema, providerIdPattern, providerSchema } from "./schema.ts";
export { configJson, modelRow, printConfig } from "./print.ts";
export { checkSecrets, isSecretKey } from "./secrets.ts";
export { isHeader } from "./settings-check.ts";
export { watchConfig, type ConfigWatch } from "./watch.ts";
export { formatMistakes, formatPath, type Mistake } from "./mistakes.ts";
export { withoutQuote } from "./yaml-text.ts";
