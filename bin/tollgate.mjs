#!/usr/bin/env node
// `npx tollgate <command>`: installs what is missing, then runs the command line on a Node that reads TypeScript.
import { join } from "node:path";
import { becomeNode, root, setup } from "../scripts/setup.mjs";

await setup();
const main = join(root, "src/cli/main.ts");
if (Number.parseInt(process.versions.node, 10) >= 24) {
  // The command line reads its own name and arguments from where `node main.ts ...` would have put them.
  process.argv[1] = main;
  await import(main);
} else {
  becomeNode([main, ...process.argv.slice(2)]);
}
