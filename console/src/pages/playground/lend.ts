/** Temporary key values for the playground's calls: only in memory, gone with the page. */
import { client } from "../../api/client.ts";

interface Lent {
  readonly key: string;
  readonly endsMs: number;
}

const lent = new Map<string, Promise<Lent>>();

/** The least remaining time, in ms, so that a call which starts with it can finish. */
const leftMs = 60_000;

async function issue(keyId: string): Promise<Lent> {
  const askedMs = Date.now();
  const { data } = await client.POST("/admin/v1/keys/{id}/temporary", {
    params: { path: { id: keyId } },
    body: { ttl_s: 900 },
  });
  // Measured by the browser's own clock from the request on, independent of the gateway's clock.
  return { key: data!.key, endsMs: askedMs + 900_000 };
}

/** Returns a value to call with. It is reused until its last minute. */
export async function valueOf(keyId: string): Promise<string> {
  const known = await lent.get(keyId)?.catch(() => undefined);
  if (known !== undefined && known.endsMs - leftMs > Date.now()) return known.key;
  const issued = issue(keyId);
  lent.set(keyId, issued);
  return (await issued).key;
}

/** Drops a refused value; the next call gets a new one. */
export const forget = (keyId: string): boolean => lent.delete(keyId);
