/**
 * The benchmark's part about tasks: how many video tasks a gateway on one core and a PostgreSQL server accept in a second,
 * each with its hold and its row, while the engine hands every one of them to the vendor and asks for it again.
 */
import { drive, requestBytes } from "./load.ts";
import { middle } from "./report.ts";
import { startTollgate } from "./subjects.ts";

export interface SubmissionOptions {
  readonly upstreamUrl: string;
  /** A database of its own. */
  readonly databaseUrl: string;
  readonly rounds: number;
  readonly seconds: number;
}

export interface Submissions {
  /** Accepted in a second, by round. */
  readonly perSecond: number[];
  /** Median milliseconds until a submission was answered, by round. */
  readonly medianMs: number[];
  readonly failures: number;
}

const connections = 64;

/** Submits as fast as the gateway takes them. */
export async function measureSubmissions(options: SubmissionOptions): Promise<Submissions> {
  const { upstreamUrl, databaseUrl, rounds, seconds } = options;
  const subject = await startTollgate("Tollgate, PostgreSQL", upstreamUrl, databaseUrl);
  const body = { model: "bench/clip", prompt: "A boat on a lake at dawn", duration: 2 };
  const target = {
    url: subject.url,
    request: requestBytes("/v1/tasks", subject.key, body),
    streamed: false,
  };
  const measured: Submissions & { failures: number } = { perSecond: [], medianMs: [], failures: 0 };
  try {
    await drive(target, connections, seconds / 2);
    for (let round = 1; round <= rounds; round += 1) {
      const result = await drive(target, connections, seconds);
      measured.perSecond.push(result.answers / result.seconds);
      measured.medianMs.push(result.latenciesMs[Math.floor(result.answers / 2)] ?? Number.NaN);
      measured.failures += result.failures;
    }
    return measured;
  } finally {
    await subject.close();
  }
}

/** Prints what was measured. */
export function printSubmissions({ perSecond, medianMs }: Submissions): void {
  const rate = Math.round(middle(perSecond));
  const ms = Math.round(middle(medianMs));
  console.log(
    `\nVideo tasks submitted at ${connections} connections, PostgreSQL: ${rate} a second, answered in ${ms} ms at the median.`,
  );
}
