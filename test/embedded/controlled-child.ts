/** A process that starts a server as on Windows and stops it, with no other work. */
import { writeSync } from "node:fs";
import { freePort } from "../../src/embedded/transport.ts";
import { prepareControlled } from "./controlled.ts";

const place = await prepareControlled(process.argv[2]!);
const server = await place.start(await freePort());
await server.stop();
await server.ended;
writeSync(1, "ended");
