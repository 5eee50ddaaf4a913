/** The reader's rights on a key. */
import { api } from "../../api/client.ts";
import { mayWith } from "../../base/rights.ts";
import type { Key } from "./queries.ts";

/** Returns a check of an action, by its name in the table of rights. Nothing is allowed until the reader is known. */
export function useMay(key: Key): (action: string) => boolean {
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  return (action) => me !== undefined && mayWith(me, action, key);
}
