/** A gateway with two workers that gives up soon where none of them starts. */
import { superviseTwo } from "./supervised.ts";

await superviseTwo({ trials: { pauseMs: 20, failuresMax: 3 } });
