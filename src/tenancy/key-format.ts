/**
 * The format of an API key: `gw_live_`, 43 base62 characters (256 random bits), 6 base62 characters of checksum. The checksum lets
 * the gateway, and secret scanners, reject a typo without asking the database.
 * Requirements: KEY; docs/decisions.md "Key format"; KEY-17.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";
import { base62, base62OfBytes } from "./base62.ts";

export const keyScheme = "gw_live_";
const randomLength = 43;
const checksumLength = 6;
export const keyLength = keyScheme.length + randomLength + checksumLength;
const shape = /^gw_live_[0-9A-Za-z]{49}$/;

/** The parts of a key that anyone who may see its record may see. */
export interface KeyHint {
  /** `gw_live_` and the first four random characters. */
  readonly prefix: string;
  readonly last4: string;
}

/** The CRC-32 of the text before it, which detects every change of a single character. */
function checksum(body: string): string {
  return base62(BigInt(crc32(body)), checksumLength);
}

/** A new key from 32 random bytes. The bytes are a parameter for tests only. */
export function generateKey(random: Uint8Array = randomBytes(32)): string {
  const body = keyScheme + base62OfBytes(random, randomLength);
  return body + checksum(body);
}

/**
 * The displayable parts of a well-formed key; undefined for any other text (length, alphabet or checksum is wrong).
 * The work does not depend on which character is wrong.
 */
export function parseKey(text: string): KeyHint | undefined {
  if (text.length !== keyLength || !shape.test(text)) return undefined;
  const body = text.slice(0, -checksumLength);
  const expected = Buffer.from(checksum(body));
  if (!timingSafeEqual(expected, Buffer.from(text.slice(-checksumLength)))) return undefined;
  return { prefix: text.slice(0, keyScheme.length + 4), last4: text.slice(-4) };
}
