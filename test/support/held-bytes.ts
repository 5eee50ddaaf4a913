/** What this process holds, for tests of what is kept. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** What this process holds that is no garbage, in bytes. */
export function heldBytes(): number {
  // What the first leaves behind are objects with something to be done at their end.
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
