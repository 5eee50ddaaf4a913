/** What the reader may do with a key. */
import { api } from "../../api/client.ts";
import { mayWith } from "../../base/rights.ts";
import type { Key } from "./queries.ts";

/** Asks for an action by its name in the table of rights; nothing is allowed until it is known who reads. */
export function useMay(key: Key): (action: string) => boolean {
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  return (action) => me !== undefined && mayWith(me, action, key);
}
