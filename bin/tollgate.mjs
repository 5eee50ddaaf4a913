#!/usr/bin/env node
// `npx tollgate <command>`: installs what is missing, then runs the command line on a Node that reads TypeScript.
import { join } from "node:path";
import { becomeNode, gatewayFlags, root, setup } from "../scripts/setup.mjs";

/**
 * npx starts commands through a shell that dies of a signal without passing it on. A gateway would run on
 * without anybody knowing; so when that shell is gone, we stop as if the signal had come to us.
 */
function stopWithParent() {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, 200);
  timer.unref();
}

const underNpx = process.env.npm_command === "exec" && process.platform !== "win32";
if (underNpx) stopWithParent();
await setup();
const main = join(root, "src/cli/main.ts");
const args = process.argv.slice(2);
const serves = args[0] === undefined || args[0] === "serve" || args[0].startsWith("-");
// A process that is replaced would not watch its parent any more.
const stays = underNpx || !serves;
if (stays && Number.parseInt(process.versions.node, 10) >= 24) {
  // The command line reads its own name and arguments from where `node main.ts ...` would have put them.
  process.argv[1] = main;
  await import(main);
} else {
  becomeNode([...(serves ? gatewayFlags : []), main, ...args]);
}
