import { describe, expect, it } from "vitest";
import type { GatewayError } from "../../src/base/errors.ts";
import { readCredential, type CredentialCarriers } from "../../src/tenancy/index.ts";
import { generateKey } from "../../src/tenancy/key-format.ts";

const key = generateKey();
const other = generateKey();

/** The code of a refused credential; the error's message never repeats the credential. */
function codeOf(carriers: CredentialCarriers): string {
  let found: unknown;
  try {
    found = readCredential(carriers);
  } catch (error) {
    found = error;
  }
  expect(found).toMatchObject({ status: 401, type: "authentication_error" });
  const { code, message } = found as GatewayError;
  expect(message).not.toContain("gw_live_");
  return code;
}

describe("the places of an API key in a request", () => {
  it.each<[string, CredentialCarriers]>([
    ["Bearer", { authorization: `Bearer ${key}` }],
    ["bearer in lower case", { authorization: `bearer ${key}` }],
    ["BEARER with more space", { authorization: `  BEARER \t ${key} ` }],
    ["x-api-key", { xApiKey: key }],
    ["x-goog-api-key", { xGoogApiKey: key }],
    ["api-key", { apiKey: key }],
    ["?key=", { queryKey: key }],
    ["?key= twice", { queryKey: [key, key] }],
    ["the same key everywhere", { authorization: `Bearer ${key}`, xApiKey: key, xGoogApiKey: key }],
    ["an empty Bearer beside a key", { authorization: "Bearer ", xApiKey: key }],
    ["a proxy's Basic beside a key", { authorization: "Basic dTpw", xApiKey: key }],
  ])("the key is read from: %s", (_name, carriers) => {
    expect(readCredential(carriers)).toBe(key);
  });

  it.each<[string, CredentialCarriers]>([
    ["nothing", {}],
    ["an empty header", { authorization: "", xApiKey: " " }],
    ["Bearer without a value", { authorization: "Bearer" }],
    ["Bearer with spaces only", { authorization: "Bearer   " }],
    ["an empty list", { queryKey: [] }],
  ])("AUTH-02: %s is refused as a missing key, with 401", (_name, carriers) => {
    expect(codeOf(carriers)).toBe("missing_api_key");
  });

  it.each<[string, CredentialCarriers]>([
    ["two headers", { authorization: `Bearer ${key}`, xApiKey: other }],
    ["header and query", { xGoogApiKey: key, queryKey: other }],
    ["the query twice", { queryKey: [key, other] }],
    ["a repeated header that node joined", { xApiKey: `${key}, ${other}` }],
  ])("two different keys in %s are refused with 401", (_name, carriers) => {
    expect(codeOf(carriers)).toBe("invalid_api_key");
  });

  it.each<[string, CredentialCarriers]>([
    ["another scheme alone", { authorization: "Basic dTpw" }],
    ["a key without a scheme", { authorization: key }],
    ["a control character", { xApiKey: "gw_live_\u0000abc" }],
    ["a line end", { queryKey: "gw_live_a\r\nb" }],
    ["a space inside", { authorization: "Bearer gw_live_a b" }],
    ["a character beyond ASCII", { xApiKey: "gw_live_é" }],
    ["513 characters", { xApiKey: "a".repeat(513) }],
    ["a megabyte", { authorization: `Bearer ${"a".repeat(1_000_000)}` }],
  ])("AUTH-03: %s is refused as an invalid key, with 401", (_name, carriers) => {
    expect(codeOf(carriers)).toBe("invalid_api_key");
  });
});
