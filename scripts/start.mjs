// `npm start`: everything from a fresh clone to a gateway that answers. Arguments go to `tollgate serve`.
import { join } from "node:path";
import { buildConsoleBeside } from "./console.mjs";
import { becomeNode, gatewayFlags, root, setup } from "./setup.mjs";

await setup();
buildConsoleBeside();
becomeNode([...gatewayFlags, join(root, "src/cli/main.ts"), "serve", ...process.argv.slice(2)]);
