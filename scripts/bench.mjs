// `npm run bench`: what is measured against what is said in bench/. Arguments go to bench/main.ts.
import { join } from "node:path";
import { becomeNode, root, setup } from "./setup.mjs";

await setup();
becomeNode([join(root, "bench/main.ts"), ...process.argv.slice(2)]);
