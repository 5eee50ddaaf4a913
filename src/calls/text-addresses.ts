/**
 * Checks URLs in text calls, which a vendor fetches on the caller's behalf: none may name a file or a host in a private network.
 * Hosts are not resolved here, because the gateway itself fetches nothing; upstream/guarded checks its own fetches. Trap T77.
 */
import type { GatewayError } from "../base/errors.ts";
import { addressError, parseSafeUrl } from "../base/safe-url.ts";
import { addressesIn, type JsonObject, type ProtocolName } from "../protocols/index.ts";

/** Inline data, and objects in stores of vendors: they are not fetched over a network of the gateway or its upstreams. */
const storeSchemes = new Set(["data", "gs", "s3", "oss", "tos", "cos", "ms", "asset"]);

/** Signed store URLs are long. */
const charactersMax = 32_768;
const schemeCharactersMax = 64;

/**
 * Checks every URL in a request, as written: its scheme, and whether its host is an IP address or a local name.
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

/** The lower-case scheme of a URL; undefined if there is none. Skips everything but printable ASCII, as many parsers skip much of it. */
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
