// The static half of the gate: formatting, type-aware lint with the import arrows, types, dead code.
import { spawnSync } from "node:child_process";

const steps = [
  ["formatting", "oxfmt", ["--check"]],
  ["lint", "oxlint", ["--type-aware", "--quiet"]],
  ["types", "tsc", ["-p", "."]],
  ["dead code", "knip", ["--no-progress"]],
];
for (const [name, command, args] of steps) {
  const started = Date.now();
  const { status } = spawnSync(command, args, {
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status !== 0) {
    console.error(`check: ${name} failed (${command} ${args.join(" ")})`);
    process.exit(1);
  }
  console.log(`check: ${name} ok in ${((Date.now() - started) / 1000).toFixed(1)} s`);
}
