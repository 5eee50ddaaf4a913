/**
 * `npm run bench`: the bare proxy and Tollgate in front of the same fast upstream, driven in turn, several rounds.
 * Prints ratios: single figures say more about the machine than about the program. docs/performance.md.
 * Options: --rounds N (5), --seconds N for each measurement (3), --quick (2 rounds of 1 s), --json.
 */
import { parseArgs } from "node:util";
import { startPostgres } from "../test/support/postgres.ts";
import { drive, requestBytes, type LoadResult, type LoadTarget } from "./load.ts";
import { canPin, leaveMeasuredCore, processorUs, residentMegabytes } from "./processes.ts";
import { framesPerStream, startRawUpstream } from "./raw-upstream.ts";
import { printReport, type Measured } from "./report.ts";
import { startBareProxy, startTollgate, type Subject } from "./subjects.ts";
import { measureSubmissions, printSubmissions } from "./task-submissions.ts";

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "3" },
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const rounds = options.quick ? 2 : Number(options.rounds);
const seconds = options.quick ? 1 : Number(options.seconds);
const connections = 128;
const say = (text: string): void => void (options.json || console.error(text));

leaveMeasuredCore();
if (!canPin)
  say(
    "taskset is missing or there is one core: the processes share cores, and the figures are noisier",
  );
const upstream = await startRawUpstream();
const postgres = await startPostgres({ fsync: true });
const subjects: Subject[] = [
  await startBareProxy(upstream.url),
  await startTollgate("Tollgate, PostgreSQL", upstream.url, await postgres.createDatabase()),
  await startTollgate("Tollgate, embedded", upstream.url),
];
try {
  const measured = await measure(subjects);
  say("tasks");
  const databaseUrl = await postgres.createDatabase();
  const tasks = await measureSubmissions({
    upstreamUrl: upstream.url,
    databaseUrl,
    rounds,
    seconds,
  });
  if (options.json) console.log(JSON.stringify({ calls: measured, tasks }, null, 2));
  else {
    printReport(measured, { rounds, seconds, pinned: canPin });
    printSubmissions(tasks);
  }
  const failures = measured.reduce((sum, subject) => sum + subject.failures, tasks.failures);
  if (failures > 0) {
    console.error(`${failures} answers were not as asked: the figures do not count`);
    process.exitCode = 1;
  }
} finally {
  for (const subject of subjects) await subject.close();
  await postgres.stop();
  upstream.close();
}

/** Chat completions in; the model says which protocol the upstream speaks. The bare proxy forwards either as it is. */
function target(
  subject: Subject,
  model: "bench/chat" | "bench/messages",
  streamed: boolean,
): LoadTarget {
  const body = {
    model,
    messages: [
      { role: "system", content: "You are a helpful assistant. ".repeat(16) },
      { role: "user", content: "Tell me about foxes and dogs." },
    ],
    max_tokens: 256,
    ...(streamed ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
  return {
    url: subject.url,
    request: requestBytes("/v1/chat/completions", subject.key, body),
    streamed,
  };
}

async function measure(all: readonly Subject[]): Promise<Measured[]> {
  const rows = all.map((subject): Measured => ({
    name: subject.name,
    whole: [],
    frames: [],
    convertedWhole: [],
    convertedFrames: [],
    directUs: [],
    convertedUs: [],
    oneMs: [],
    failures: 0,
    memoryMb: undefined,
  }));
  for (const subject of all) {
    say(`warming up ${subject.name}`);
    for (const model of ["bench/chat", "bench/messages"] as const) {
      await drive(target(subject, model, false), connections, seconds);
      await drive(target(subject, model, true), connections / 4, seconds / 2);
    }
  }
  for (let round = 1; round <= rounds; round += 1) {
    say(`round ${round} of ${rounds}`);
    // The order turns with each round, so that no subject always follows the same one.
    for (let turn = 0; turn < all.length; turn += 1) {
      const index = (turn + round) % all.length;
      await measureRound(all[index]!, rows[index]!);
    }
  }
  all.forEach((subject, index) => (rows[index]!.memoryMb = residentMegabytes(subject.process)));
  return rows;
}

async function measureRound(subject: Subject, row: Measured): Promise<void> {
  const load = async (model: "bench/chat" | "bench/messages", streamed: boolean, count: number) => {
    const result = await drive(target(subject, model, streamed), count, seconds);
    row.failures += result.failures;
    return result;
  };
  const perSecond = ({ answers, seconds: took }: LoadResult): number => answers / took;
  /** A load of whole answers, and what each cost the process. */
  const whole = async (model: "bench/chat" | "bench/messages", us: number[]) => {
    const before = processorUs(subject.process);
    const result = await load(model, false, connections);
    const after = processorUs(subject.process);
    if (before !== undefined && after !== undefined) us.push((after - before) / result.answers);
    return perSecond(result);
  };
  row.whole.push(await whole("bench/chat", row.directUs));
  row.frames.push(perSecond(await load("bench/chat", true, connections)) * framesPerStream);
  row.oneMs.push(median(await load("bench/chat", false, 1)));
  row.convertedWhole.push(await whole("bench/messages", row.convertedUs));
  row.convertedFrames.push(
    perSecond(await load("bench/messages", true, connections)) * framesPerStream,
  );
}

function median(result: LoadResult): number {
  return result.latenciesMs[Math.floor(result.latenciesMs.length / 2)] ?? NaN;
}
