/** Measures the load that other processes put on the machine during a run: it makes figures less reliable. */
import {
  machineBusySeconds,
  processorTimes,
  processTree,
  usedUs,
  type ProcessorTimes,
} from "./machine.ts";

const lookEveryMs = 2_000;

/** Compares the machine's busy time with that of our own processes, starting at its creation. */
export class OthersMeter {
  #times: ProcessorTimes = new Map();
  #machineSeconds = machineBusySeconds();
  #othersSeconds = 0;
  #seconds = 0;
  #atMs = performance.now();
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#look();
    this.#timer = setInterval(() => this.#look(), lookEveryMs).unref();
  }

  #look(): void {
    const machineSeconds = machineBusySeconds();
    const times = processorTimes(processTree(process.pid));
    const nowMs = performance.now();
    if (
      machineSeconds !== undefined &&
      this.#machineSeconds !== undefined &&
      this.#times.size > 0
    ) {
      const own = usedUs(this.#times, times) / 1e6;
      this.#othersSeconds += Math.max(0, machineSeconds - this.#machineSeconds - own);
      this.#seconds += (nowMs - this.#atMs) / 1000;
    }
    this.#machineSeconds = machineSeconds;
    this.#times = times;
    this.#atMs = nowMs;
  }

  /** Cores used by other processes, on average; undefined if the system does not report it. Ends the measurement. */
  busy(): number | undefined {
    clearInterval(this.#timer);
    this.#look();
    return this.#machineSeconds === undefined || this.#seconds === 0
      ? undefined
      : this.#othersSeconds / this.#seconds;
  }
}
