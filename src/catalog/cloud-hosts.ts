/** Addresses of clouds that do not follow the pattern of the others. */

const others: readonly (readonly [pattern: RegExp, host: string])[] = [
  // Google has one host for all places, and one for each group of regions.
  [/^https:\/\/global-aiplatform\./, "https://aiplatform."],
  [/^https:\/\/(us|eu)-aiplatform\./, "https://aiplatform.$1.rep."],
  // Amazon's European Sovereign Cloud has its own domain.
  [/^(https:\/\/[\w-]+\.eusc-[\w-]+)\.amazonaws\.com\b/, "$1.amazonaws.eu"],
];

/** Returns the address that a cloud really has for its place, given the one by the pattern of the other places. */
export const placedAddress = (address: string): string =>
  others.reduce((text, [pattern, host]) => text.replace(pattern, host), address);

/** True for Azure's older addresses, which have a version: it refuses each field that it does not know. */
export const isOlderAzure = (baseUrl: string): boolean => /\/openai\/*$/.test(baseUrl);
