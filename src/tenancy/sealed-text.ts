/** Stored texts of calls (bodies, answers of the response cache): compressed, then sealed under the master key. */
import { promisify } from "node:util";
import { deflateRaw, inflateRaw } from "node:zlib";
import type { Secrets } from "./secrets.ts";

/** Limit in bytes when decompressing, above the size of any stored text. */
const unpackedMax = 8 * 2 ** 20;
const pack = promisify(deflateRaw);
const unpack = promisify(inflateRaw);

export type Sealing = Pick<Secrets, "sealBytes" | "unsealBytes">;

/** Seals a text, bound to `name`. */
export async function sealText(sealing: Sealing, name: string, text: string): Promise<Buffer> {
  return sealing.sealBytes(name, await pack(text));
}

/** Reverses `sealText`. @throws as `unsealBytes` */
export async function unsealText(
  sealing: Sealing,
  name: string,
  sealed: Uint8Array,
): Promise<string> {
  const packed = sealing.unsealBytes(name, sealed);
  return (await unpack(packed, { maxOutputLength: unpackedMax })).toString();
}
