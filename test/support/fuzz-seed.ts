/**
 * One seed for every property test, so that each run checks the same cases. `FAST_CHECK_SEED=random` looks for new failures; a
 * number repeats a run. A failure that a random run finds becomes a test case of its own.
 */
import * as fc from "fast-check";

const asked = process.env["FAST_CHECK_SEED"] ?? "20261120";
if (asked !== "random") fc.configureGlobal({ seed: Number(asked) });
