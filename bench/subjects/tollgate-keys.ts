/** Creates workspaces, credits and keys of a measured Tollgate through its management API, which every commit has. */
import type { Keys } from "../scenarios.ts";

export type KeySets = Readonly<Record<Keys, readonly string[]>>;

const workspaceCount = 20;
const keysPerWorkspace = 5;
/** Never reached. */
const caps = { daily: "100000.00", total: "1000000.00", hard: true };

/** Creates the wanted keys. @throws Error with the answer to a refused request */
export async function makeKeys(
  url: string,
  adminToken: string,
  wanted: ReadonlySet<Keys>,
): Promise<KeySets> {
  const post = async <Answer>(path: string, body: object): Promise<Answer> => {
    const response = await fetch(`${url}/admin/v1${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Answer;
  };
  const workspace = async (name: string): Promise<string> => {
    const { id } = await post<{ id: string }>("/workspaces", { name });
    await post(`/workspaces/${id}/credits`, { amount: "1000000.00" });
    return id;
  };
  const key = async (body: object): Promise<string> =>
    (await post<{ key: string }>("/keys", body)).key;
  const set = async (name: string, rest: object): Promise<string[]> => {
    const ofWorkspace = async (workspace_id: string): Promise<string[]> => {
      const keys: string[] = [];
      while (keys.length < keysPerWorkspace)
        keys.push(await key({ workspace_id, name: `${name} ${keys.length}`, ...rest }));
      return keys;
    };
    const names = Array.from({ length: workspaceCount }, (_, index) => `${name} ${index}`);
    const workspaces = await Promise.all(names.map(workspace));
    return (await Promise.all(workspaces.map(ofWorkspace))).flat();
  };
  return {
    one: wanted.has("one")
      ? [await key({ workspace_id: await workspace("one"), name: "one" })]
      : [],
    many: wanted.has("many") ? await set("many", {}) : [],
    caps: wanted.has("caps") ? await set("caps", { spend_caps: caps }) : [],
  };
}
