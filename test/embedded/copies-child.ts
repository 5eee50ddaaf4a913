/** A process that is killed while it copies PostgreSQL's programs. Started by copies.test.ts. */
import files from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const [place = "", native = "", version = ""] = process.argv.slice(2);
const { cpSync } = files;
files.cpSync = (...call: Parameters<typeof cpSync>) => {
  cpSync(...call);
  process.kill(process.pid, "SIGKILL");
};
syncBuiltinESMExports();

const { copyPrograms } = await import("../../src/embedded/copies.ts");
copyPrograms(place, { native, version });
