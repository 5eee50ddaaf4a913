/** One measurement: a subject under a scenario's load for some seconds, with the processor time used by subject, load and upstream. */
import { framesPerStream, type Upstream } from "./upstream/index.ts";
import { quantile, type Figures } from "./figures.ts";
import { drive, type LoadTarget } from "./load/drive.ts";
import { hold } from "./load/held.ts";
import { memoryKb, otherCores, processorTimes, processTree, usedUs } from "./machine.ts";
import type { Scenario } from "./scenarios.ts";
import type { Subject } from "./subjects/types.ts";

interface MeasureOptions {
  readonly scenario: Scenario;
  readonly subject: Subject;
  readonly target: LoadTarget;
  readonly seconds: number;
  /** The processes of all subjects; the other ones are load, upstream and database server. */
  readonly subjectPids: readonly number[];
  readonly upstream: Upstream;
  readonly signal: AbortSignal;
}

/** Measures once. Rejects when the signal fires. */
export async function measure(options: MeasureOptions): Promise<Figures> {
  return options.scenario.answer === "held" ? measureHeld(options) : measureCalls(options);
}

async function measureCalls(options: MeasureOptions): Promise<Figures> {
  const { scenario, target, seconds, signal } = options;
  const meter = new Meter(options);
  const { connections } = scenario;
  const result = await drive(target, {
    connections,
    seconds,
    signal,
    onBegin: () => meter.begin(),
    onEnd: () => meter.end(),
  });
  const { answers, latenciesMs, firstMs, failures } = result;
  const inFrames = scenario.group === "streams" ? framesPerStream : 1;
  return {
    perSecond: (answers * inFrames) / result.seconds,
    medianMs: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    ...(target.streamed
      ? { firstMedianMs: quantile(firstMs, 0.5), firstP99Ms: quantile(firstMs, 0.99) }
      : {}),
    ...meter.shares(result.seconds, answers),
    failures,
  };
}

async function measureHeld(options: MeasureOptions): Promise<Figures> {
  const { scenario, subject, target, seconds, signal, upstream } = options;
  const { connections } = scenario;
  const memory = (): number => (subject.pid === undefined ? 0 : memoryKb(processTree(subject.pid)));
  const meter = new Meter(options);
  const beforeKb = memory();
  let heldKb = 0;
  const result = await hold(target, {
    connections,
    seconds: Math.max(1, seconds),
    signal,
    onBegin: () => meter.begin(),
    onEnd: () => {
      meter.end();
      heldKb = memory();
    },
    finish: () => upstream.finishHeld(),
  });
  const { lateMs, failures } = result;
  return {
    perSecond: lateMs.length / result.seconds,
    medianMs: quantile(lateMs, 0.5),
    p99Ms: quantile(lateMs, 0.99),
    lateP99Ms: quantile(lateMs, 0.99),
    streamKb: Math.max(0, heldKb - beforeKb) / connections,
    ...meter.shares(result.seconds, lateMs.length),
    failures,
  };
}

/** Processor time between two moments: of the subject, of this process, and of all other ones. */
class Meter {
  readonly #options: MeasureOptions;
  #subject = 0;
  #load = 0;
  #side = 0;
  #before: ReturnType<Meter["look"]> | undefined;

  constructor(options: MeasureOptions) {
    this.#options = options;
  }

  private look() {
    const { subject, subjectPids } = this.#options;
    const known = (pid: number | undefined): number[] =>
      pid === undefined ? [] : processTree(pid);
    const ofSubjects = new Set(subjectPids.flatMap(known));
    const side = known(process.pid).filter((id) => !ofSubjects.has(id));
    return {
      subject: processorTimes(known(subject.pid)),
      load: process.cpuUsage(),
      side: processorTimes(side),
    };
  }

  begin(): void {
    this.#before = this.look();
  }

  end(): void {
    const { user, system } = process.cpuUsage(this.#before!.load);
    const after = this.look();
    this.#load = user + system;
    this.#subject = usedUs(this.#before!.subject, after.subject);
    this.#side = usedUs(this.#before!.side, after.side);
  }

  /** Returns the figures for this many seconds and answers; without processor time if the system does not report it. */
  shares(
    seconds: number,
    answers: number,
  ): Pick<Figures, "processorUs" | "subjectBusy" | "loadBusy" | "sideBusy"> {
    const us = seconds * 1e6;
    const loadBusy = this.#load / us;
    if (this.#side === 0) return { loadBusy };
    const sideBusy = this.#side / us / otherCores;
    if (this.#options.subject.pid === undefined) return { loadBusy, sideBusy };
    const processorUs = answers === 0 ? Number.NaN : this.#subject / answers;
    return { loadBusy, sideBusy, subjectBusy: this.#subject / us, processorUs };
  }
}
