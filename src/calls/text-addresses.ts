/**
 * Addresses in text calls, which a vendor fetches in the caller's name: none may name a file, or a host of a private
 * network. Nothing is resolved here, for nothing is fetched by us; see upstream/guarded for what is. Trap T77.
 */
import type { GatewayError } from "../base/errors.ts";
import { addressError, parseSafeUrl } from "../base/safe-url.ts";
import { addressesIn, type JsonObject, type ProtocolName } from "../protocols/index.ts";

/** Data in place, and what vendors keep for the caller: not fetched over any network of the gateway or its upstreams. */
const storeSchemes = new Set(["data", "gs", "s3", "oss", "tos", "cos", "ms", "asset"]);

/** Signed addresses of stores are long. */
const charactersMax = 32_768;
const schemeCharactersMax = 64;

/**
 * Checks every address a request names, as written: its scheme, and a host that is an IP address or by its name local.
 * @throws GatewayError `invalid_value` naming the field
 */
export function checkTextAddresses(
  protocol: ProtocolName,
  body: JsonObject,
  allowPrivate: boolean,
): void {
  for (const { param, url } of addressesIn(protocol, body)) {
    const scheme = schemeOf(url);
    if (scheme === undefined || storeSchemes.has(scheme)) continue;
    if (scheme !== "http" && scheme !== "https") throw otherScheme(param, scheme);
    parseSafeUrl(url, { https: false, allowPrivate, param, charactersMax });
  }
}

/** The scheme of an address, lower-case; undefined for what is none. All but printable ASCII is skipped: parsers skip much of it. */
function schemeOf(text: string): string | undefined {
  let head = "";
  for (let index = 0; index < text.length && head.length < schemeCharactersMax; index += 1) {
    const code = text.charCodeAt(index);
    if (code > 0x20 && code < 0x7f) head += text[index];
  }
  return /^([a-z][a-z0-9+.-]*):/i.exec(head)?.[1]?.toLowerCase();
}

const otherScheme = (param: string, scheme: string): GatewayError =>
  addressError(
    { param },
    `must be an https address or a data URL; "${scheme}:" is not passed on to providers`,
  );
