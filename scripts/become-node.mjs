/**
 * Starts the gateway from a command, by replacing this process if the system allows it. Used in a checkout and in the published
 * package. Plain JavaScript for Node 20.
 */
import { spawn } from "node:child_process";
import { totalmem } from "node:os";
import { isatty } from "node:tty";

const mebibyte = 1024 * 1024;
/** With at least this memory, in megabytes, young objects get their full space, and Node's own heap limit is kept. */
const enoughMb = 2048;
const semiSpaceMb = 64;

/** The memory limit of the container, or the machine's memory. */
const memoryBytes = Math.min(process.constrainedMemory?.() || Infinity, totalmem());

/**
 * The flags for V8's heap sizes. Under load a call's objects live as long as the call. With space for those of a few thousand calls,
 * most are dead at a collection; with the usual 16 MB they are copied first. The young generation takes up to three times this size.
 * With 512 MB the heap alone could grow to 448, and the system would kill the process before that. So with little memory the young
 * generation is smaller, and the old one three eighths of the memory. Sizes in NODE_OPTIONS take precedence.
 */
export function roomFlagsFor(bytes, nodeOptions = "") {
  const megabytes = Math.floor(bytes / mebibyte);
  const isSmall = megabytes < enoughMb;
  const flags = {
    "--max-semi-space-size": isSmall
      ? Math.max(Math.floor((megabytes * semiSpaceMb) / (2 * enoughMb)), 4)
      : semiSpaceMb,
    ...(isSmall && { "--max-old-space-size": Math.floor(megabytes * 0.375) }),
  };
  return Object.entries(flags)
    .filter(([flag]) => !nodeOptions.replaceAll("_", "-").includes(flag))
    .map(([flag, value]) => `${flag}=${value}`);
}

/**
 * V8 allocates objects directly in the old generation if earlier ones from the same code lived long. Objects of a call live as long
 * as the call, so V8 takes them for long-lived. After the call they stay until a full collection, with everything they reference.
 * Young collections of streams took twice as long, and a stream of many frames a tenth more. So this flag makes all objects start
 * young.
 */
const youngFlag = "--no-allocation-site-pretenuring";

/** Node's heap flags for a gateway. */
export const heapFlags = [youngFlag, ...roomFlagsFor(memoryBytes, process.env.NODE_OPTIONS)];

/**
 * Environment variables for the C library with little memory. glibc keeps the space of freed buffers for reuse; without these
 * variables that is up to 100 MB more after some large bodies. Their price is microseconds more for each read of a socket.
 */
export const roomVariablesFor = (bytes) =>
  bytes < enoughMb * mebibyte ? { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "65536" } : {};

/** True if the arguments run the gateway, which lives long, instead of a command that ends. */
export const isServe = ([word]) => word === undefined || word === "serve" || word.startsWith("-");

/** The most ms between the arrival of a closed terminal's signal at the shell and at this process. */
const hangUpMs = 1000;

/**
 * Returns a function that tells whether a terminal was just closed that this process should outlive, as with `nohup`. That is the
 * case if none of its input, output and errors is a terminal. src/cli/signals.ts does the same in the gateway itself.
 */
function watchHangUps() {
  if ([0, 1, 2].some((descriptor) => isatty(descriptor))) return () => false;
  let lastMs = -Infinity;
  process.on("SIGHUP", () => (lastMs = performance.now()));
  return () => performance.now() - lastMs < hangUpMs;
}

/**
 * Stops this process when the shell of npx is gone. npx starts commands through a shell that dies of a signal without forwarding it.
 * The gateway would run on unnoticed, so it stops as if it had got the signal.
 * @returns true under npx: a process that was replaced could not watch its parent any more
 */
export function stopWithNpx(serves) {
  if (process.env.npm_command !== "exec" || process.platform === "win32") return false;
  const parent = process.ppid;
  const wasHungUp = serves ? watchHangUps() : () => false;
  let isGone = false;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    // Checked twice: the signal may reach this process a moment after the shell.
    if (!isGone) return void (isGone = true);
    clearInterval(timer);
    if (!wasHungUp()) process.kill(process.pid, "SIGTERM");
  }, 200);
  timer.unref();
  return true;
}

/**
 * Replaces this process by `binary ...args` if the system allows it, so that signals, standard input and the exit code need no
 * forwarding. Otherwise runs it as a child, and forwards SIGINT, SIGTERM and the exit code.
 */
export function becomeProgram(binary, args) {
  const env = { ...roomVariablesFor(memoryBytes), ...process.env };
  if (process.execve !== undefined && process.platform !== "win32") {
    process.execve(binary, [binary, ...args], env);
  }
  const child = spawn(binary, args, { stdio: "inherit", env });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to the whole process group: the child already has it.
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.once("error", (error) => {
    process.stderr.write(`cannot run ${binary}: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.once("close", (code, signal) => {
    process.exitCode =
      code ?? 128 + ({ SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }[signal] ?? 0);
  });
}
