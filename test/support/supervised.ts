/** A gateway with two workers, as a program of its own: what tests of workers start with options that no environment has. */
import { createLog } from "../../src/base/log.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { listenForHangUps } from "../../src/cli/signals.ts";
import { supervise } from "../../src/cli/workers/supervise.ts";

type Options = Pick<Parameters<typeof supervise>[0], "trials">;

export async function superviseTwo(options: Options): Promise<void> {
  const log = createLog();
  await supervise({
    environment: readEnvironment(process.env),
    wanted: 2,
    log,
    onHangUp: listenForHangUps(log),
    startedMs: performance.now(),
    ...options,
  });
}
