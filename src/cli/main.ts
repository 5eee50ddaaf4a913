/** The `tollgate` command. */
import { runCommand } from "./run.ts";

await runCommand(process.argv.slice(2));
