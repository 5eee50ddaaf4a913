// `npm start`: everything from a fresh clone to a gateway that answers. Arguments go to `tollgate serve`.
import { buildConsoleBeside } from "./console.mjs";
import { program } from "./program.mjs";
import { becomeNode, gatewayFlags, nodeBinary, setup } from "./setup.mjs";

await setup();
buildConsoleBeside();
const main = await program(nodeBinary());
becomeNode([...gatewayFlags, main, "serve", ...process.argv.slice(2)]);
