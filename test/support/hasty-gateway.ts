/** A gateway with two workers that soon gives up if no worker starts. */
import { superviseTwo } from "./supervised.ts";

await superviseTwo({ trials: { pauseMs: 20, failuresMax: 3 } });
