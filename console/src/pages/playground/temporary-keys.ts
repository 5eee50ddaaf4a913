/** Temporary key values for the playground's calls: only in memory, gone with the page. */
import { client } from "../../api/client.ts";

interface TemporaryKey {
  readonly key: string;
  readonly endsMs: number;
}

const temporaryKeys = new Map<string, Promise<TemporaryKey>>();

/** The least remaining time, in ms, so that a call which starts with it can finish. */
const leftMs = 60_000;

async function createTemporaryKey(keyId: string): Promise<TemporaryKey> {
  const askedMs = Date.now();
  const { data } = await client.POST("/admin/v1/keys/{id}/temporary", {
    params: { path: { id: keyId } },
    body: { ttl_s: 900 },
  });
  // Measured by the browser's own clock from the request on, independent of the gateway's clock.
  return { key: data!.key, endsMs: askedMs + 900_000 };
}

/** Returns a value to call with. It is reused until its last minute. */
export async function temporaryKey(keyId: string): Promise<string> {
  const kept = temporaryKeys.get(keyId);
  const known = await kept?.catch(() => undefined);
  if (known !== undefined && known.endsMs - leftMs > Date.now()) return known.key;
  // Another call of the same moment has asked for a new one.
  if (temporaryKeys.get(keyId) !== kept) return temporaryKey(keyId);
  const issued = createTemporaryKey(keyId);
  temporaryKeys.set(keyId, issued);
  return (await issued).key;
}

/** Drops a refused value; the next call gets a new one. */
export const dropTemporaryKey = (keyId: string): boolean => temporaryKeys.delete(keyId);
