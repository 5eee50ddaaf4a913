/** Temporary values of keys: what this page calls with. In memory only, and gone with the page. */
import { client } from "../../api/client.ts";

interface Lent {
  readonly key: string;
  readonly endsMs: number;
}

const lent = new Map<string, Promise<Lent>>();

/** A call that begins with it should be able to run. */
const leftMs = 60_000;

async function issue(keyId: string): Promise<Lent> {
  const askedMs = Date.now();
  const { data } = await client.POST("/admin/v1/keys/{id}/temporary", {
    params: { path: { id: keyId } },
    body: { ttl_s: 900 },
  });
  // By this browser's own clock: the time that was asked for, whatever time it is for the gateway.
  return { key: data!.key, endsMs: askedMs + 900_000 };
}

/** The value to call with now; one value serves until its last minute. */
export async function valueOf(keyId: string): Promise<string> {
  const known = await lent.get(keyId)?.catch(() => undefined);
  if (known !== undefined && known.endsMs - leftMs > Date.now()) return known.key;
  const issued = issue(keyId);
  lent.set(keyId, issued);
  return (await issued).key;
}

/** It was refused: the next call gets another one. */
export const forget = (keyId: string): boolean => lent.delete(keyId);
