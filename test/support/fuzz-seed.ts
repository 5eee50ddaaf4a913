/**
 * One seed for every property test, so that the gate is the same each time it runs. `FAST_CHECK_SEED=random` looks for
 * what nobody has seen yet; a number repeats a run. What a random run finds becomes a case of its own.
 */
import * as fc from "fast-check";

const asked = process.env["FAST_CHECK_SEED"] ?? "20261120";
if (asked !== "random") fc.configureGlobal({ seed: Number(asked) });
