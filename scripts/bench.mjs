// `npm run bench`: runs the benchmarks of bench/. Arguments go to bench/main.ts, after `--scale` to bench/scale.ts, after `--replica`
// to bench/replica.ts.
import { join } from "node:path";
import { becomeNode, root, setup } from "./setup.mjs";

await setup();
const words = process.argv.slice(2);
const programs = { "--scale": "bench/scale.ts", "--replica": "bench/replica.ts" };
const program = programs[words[0]];
becomeNode([join(root, program ?? "bench/main.ts"), ...words.slice(program ? 1 : 0)]);
