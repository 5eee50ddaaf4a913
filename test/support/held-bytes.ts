/** The memory that this process holds, for tests of leaks. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** The memory of this process without garbage, in bytes. */
export function heldBytes(): number {
  // Collect twice: the first collection leaves objects that have finalizers.
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
