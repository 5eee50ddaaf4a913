/** Returns the full API key. The audit log records who reveals one. */
import { client } from "./client.ts";

export async function revealKey(id: string): Promise<string> {
  const { data } = await client.POST("/admin/v1/keys/{id}/reveal", { params: { path: { id } } });
  return data!.key;
}
