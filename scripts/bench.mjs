// `npm run bench`: what is measured against what is said in bench/. Arguments go to bench/main.ts, after `--scale` to bench/scale.ts.
import { join } from "node:path";
import { becomeNode, root, setup } from "./setup.mjs";

await setup();
const words = process.argv.slice(2);
const program = words[0] === "--scale" ? "bench/scale.ts" : "bench/main.ts";
becomeNode([join(root, program), ...words.filter((word) => word !== "--scale")]);
