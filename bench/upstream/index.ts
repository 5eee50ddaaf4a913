/** Starts the upstream of the benchmark beside the load. */
import { fork } from "node:child_process";
import { once } from "node:events";
import type { TestCertificate } from "../../test/support/certificate.ts";

export { framesPerStream } from "./answers.ts";

export interface Upstream {
  /** For example `http://127.0.0.1:4001`; the path after it selects the form of the answer. */
  readonly url: string;
  /** Ends every held stream properly. */
  finishHeld(): void;
  /** Delays whole answers by `ms` milliseconds from now on. */
  delay(ms: number): void;
  close(): void;
}

interface UpstreamOptions {
  /** The port; a free one if absent. */
  readonly port?: number | undefined;
  /** If present, the upstream speaks TLS. */
  readonly certificate?: TestCertificate | undefined;
}

/** @throws Error when it does not start, for example because the port is taken. */
export async function startUpstream({ port, certificate }: UpstreamOptions): Promise<Upstream> {
  const child = fork(new URL("./main.ts", import.meta.url), {
    env: {
      ...process.env,
      BENCH_PORT: String(port ?? 0),
      BENCH_TLS_KEY: certificate?.key ?? "",
      BENCH_TLS_CERT: certificate?.cert ?? "",
    },
    execArgv: [],
  });
  const failed = once(child, "exit").then(() => {
    throw new Error("the upstream of the benchmark did not start");
  });
  const [told] = (await Promise.race([once(child, "message"), failed])) as [{ port: number }];
  failed.catch(() => undefined);
  const scheme = certificate === undefined ? "http" : "https";
  return {
    url: `${scheme}://127.0.0.1:${told.port}`,
    finishHeld: () => void child.send("finish"),
    delay: (ms) => void child.send({ delayMs: ms }),
    close: () => void child.kill(),
  };
}
