/** Measures the processor time of work. A limit on processor time also holds on slow and on busy machines, unlike one on the clock. */

/** Processor time of the loop below on the machine that the limits were set on, in milliseconds. */
const usualLoopMs = 40;

/** Strings, maps and arithmetic, like most of our work. */
function loop(): number {
  let sum = 0;
  for (let round = 0; round < 20; round += 1) {
    const seen = new Map<string, number>();
    for (let index = 0; index < 6_000; index += 1) seen.set(`key ${index % 3_000}`, index);
    for (const [key, value] of JSON.parse(JSON.stringify([...seen])) as [string, number][])
      sum += key.length * (value % 7);
  }
  return sum;
}

/** The processor time of this process, in milliseconds, with all its threads, while `work` runs. */
export async function processorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * The same of this thread alone. The helper threads also compile, and collect the garbage of earlier tests: that came to 800 ms
 * where the work took 80.
 */
async function threadMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

let isWarm = false;

const triesMax = 5;

/**
 * Measures `work` as `costMs` does until a try costs less than `belowMs`, at most five times, and returns the least. A disturbance
 * only adds to a measurement: the garbage of earlier tests, or other machines on the same host.
 */
export async function leastCostMs(work: () => unknown, belowMs: number): Promise<number> {
  let least = Infinity;
  for (let tries = 0; tries < triesMax && least >= belowMs; tries += 1)
    least = Math.min(least, await costMs(work));
  return least;
}

/**
 * Runs `work` and returns the processor time of this thread, in milliseconds of the reference machine. A loop before and after
 * the work measures how fast this machine is.
 */
export async function costMs(work: () => unknown): Promise<number> {
  if (!isWarm) for (let times = 0; times < 3; times += 1) loop();
  isWarm = true;
  const before = await threadMs(loop);
  const cost = await threadMs(work);
  const after = await threadMs(loop);
  return (cost * usualLoopMs * 2) / (before + after);
}
