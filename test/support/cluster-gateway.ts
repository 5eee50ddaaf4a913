/** A gateway with two workers whose connections Node's cluster module hands out, as where the system spreads none. */
import { superviseTwo } from "./supervised.ts";

await superviseTwo({ shareSockets: false });
