/** True if the server grants the reader this right. */
import { api } from "../api/client.ts";
import { mayOwn } from "../base/rights.ts";

export function useMay(action: string): boolean {
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  return me !== undefined && mayOwn(me.rights, action);
}
