#!/usr/bin/env node
// `npx tollgate <command>` in a checkout: installs what is missing, then runs the command line on a Node that reads
// TypeScript. The published package has another one, scripts/package/tollgate.mjs.
import { pathToFileURL } from "node:url";
import { isServe, stopWithNpx } from "../scripts/become-node.mjs";
import { program } from "../scripts/program.mjs";
import { becomeNode, gatewayFlags, nodeBinary, setup } from "../scripts/setup.mjs";

const args = process.argv.slice(2);
const serves = isServe(args);
const underNpx = stopWithNpx(serves);
await setup();
const main = await program(nodeBinary());
if ((underNpx || !serves) && Number.parseInt(process.versions.node, 10) >= 24) {
  // The command line reads its own name and arguments from where `node main.ts ...` would have put them.
  process.argv[1] = main;
  // As an address: a path with `#` or `%` in it, or with a drive's letter, is none.
  await import(pathToFileURL(main).href);
} else {
  becomeNode([...(serves ? gatewayFlags : []), main, ...args]);
}
