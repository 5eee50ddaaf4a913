/** What work costs the processor: a limit on it holds on slow machines and on busy ones, which one on the clock does not. */

/** What the loop below takes on the machine that the limits were set on, in milliseconds of its processor. */
const usualLoopMs = 40;

/** Strings, maps and arithmetic, as most of our work is. */
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

/** The processor time of this process, all its threads together, while `work` runs, in milliseconds. */
export async function processorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * That of this thread. What its helpers do is left out: they also compile and collect what earlier tests left, which came to 800 ms
 * where 80 were spent.
 */
async function threadMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

let isWarm = false;

/**
 * Does `work` and tells the processor time that this thread spent meanwhile, in milliseconds of the usual machine: it is measured by a
 * loop that runs before and after.
 */
export async function costMs(work: () => unknown): Promise<number> {
  if (!isWarm) for (let times = 0; times < 3; times += 1) loop();
  isWarm = true;
  const before = await threadMs(loop);
  const cost = await threadMs(work);
  const after = await threadMs(loop);
  return (cost * usualLoopMs * 2) / (before + after);
}
