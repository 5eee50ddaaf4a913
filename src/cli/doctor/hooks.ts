/** Checks the operator's hooks. Loads a module as a start does; connects to an address but sends nothing. */
import { reasonOf } from "../../base/errors.ts";
import type { HookSettings } from "../../catalog/index.ts";
import { loadModule } from "../../hooks/index.ts";
import { inspectAddress, type Pools } from "../../upstream/index.ts";
import { failed, ok, type Finding } from "./findings.ts";
import { notReached, connectionFinding } from "./connection.ts";

/** Returns the findings on one hook. */
export async function checkHook(pools: Pools, hook: HookSettings): Promise<Finding[]> {
  const { name, at, target } = hook;
  const check = `hook ${name}`;
  if ("url" in target) {
    const found = await inspectAddress(pools, target.url).then(
      (way) => connectionFinding(check, way),
      (error: unknown) => notReached(check, reasonOf(error), "its url"),
    );
    return [found];
  }
  try {
    await loadModule({ name, at, path: target.path });
    return [ok(check, `${target.path} is loaded and exports ${at}`)];
  } catch (error) {
    return [failed(check, reasonOf(error), "mend the module: no gateway starts with it")];
  }
}
