/** A gateway with two workers as its own program: worker tests start it with options that have no environment variable. */
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
