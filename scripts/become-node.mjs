/**
 * How a command becomes the gateway: by taking the place of this process where the system allows it. Used in a checkout and
 * in the published package. Plain JavaScript for Node 20.
 */
import { spawn } from "node:child_process";
import { totalmem } from "node:os";
import { isatty } from "node:tty";

const mebibyte = 1024 * 1024;
/** With so much memory, in megabytes, there is room for young objects, and Node's own bound of the heap is right. */
const enoughMb = 2048;
const semiSpaceMb = 64;

/** What a container may use, else what the machine has. */
const memoryBytes = Math.min(process.constrainedMemory?.() || Infinity, totalmem());

/**
 * How large the heap may be. Under load a call's objects live as long as the call; with room for those of a
 * few thousand calls most are dead when they are collected, where the usual 16 MB made them be copied first. That takes up to
 * three times the room: in 512 MB the heap alone could grow to 448, and the system would end the process first. So with little
 * memory it has less, and the whole heap three eighths. What NODE_OPTIONS says of either holds.
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
 * V8 makes objects of a kind that once lived long among the old ones at once. What a call keeps lives as long as the call, so
 * that it takes those for long-lived. Dead, they stay until a whole collection, and with them all that they refer to: the young
 * collections of streams took twice as long, and a stream of many frames a tenth more. So all objects begin among the young.
 */
const youngFlag = "--no-allocation-site-pretenuring";

/** What Node is told of its heap where it runs a gateway. */
export const heapFlags = [youngFlag, ...roomFlagsFor(memoryBytes, process.env.NODE_OPTIONS)];

/**
 * What the C library is told there: glibc keeps the room of freed buffers for later ones, up to 100 MB more after some large
 * bodies than it does so. Each read of a socket then costs microseconds more.
 */
export const roomVariablesFor = (bytes) =>
  bytes < enoughMb * mebibyte ? { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "65536" } : {};

/** Whether a command's words run the gateway, which lives long, and not a command that ends. */
export const isServe = ([word]) => word === undefined || word === "serve" || word.startsWith("-");

/** How far apart the signal of a closed terminal may reach the shell and us. */
const hangUpMs = 1000;

/**
 * Tells whether a terminal was just closed that this process was started to outlive, as `nohup` does: none of its input, output
 * and errors is the terminal's. src/cli/signals.ts has the same of the gateway itself.
 */
function watchHangUps() {
  if ([0, 1, 2].some((descriptor) => isatty(descriptor))) return () => false;
  let lastMs = -Infinity;
  process.on("SIGHUP", () => (lastMs = performance.now()));
  return () => performance.now() - lastMs < hangUpMs;
}

/**
 * npx starts commands through a shell that dies of a signal without passing it on. A gateway would run on
 * without anybody knowing; so when that shell is gone, we stop as if the signal had come to us.
 * @returns whether we run under npx: a process that is replaced would not watch its parent any more
 */
export function stopWithNpx(serves) {
  if (process.env.npm_command !== "exec" || process.platform === "win32") return false;
  const parent = process.ppid;
  const wasHungUp = serves ? watchHangUps() : () => false;
  let isGone = false;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    // Looked at twice: the signal may reach us a moment after the shell.
    if (!isGone) return void (isGone = true);
    clearInterval(timer);
    if (!wasHungUp()) process.kill(process.pid, "SIGTERM");
  }, 200);
  timer.unref();
  return true;
}

/**
 * Becomes `binary ...args` where the system allows it, so that signals, standard input and the exit code
 * need no forwarding; else runs it as a child and passes SIGINT, SIGTERM and the exit code on.
 */
export function becomeProgram(binary, args) {
  const env = { ...roomVariablesFor(memoryBytes), ...process.env };
  if (process.execve !== undefined && process.platform !== "win32") {
    process.execve(binary, [binary, ...args], env);
  }
  const child = spawn(binary, args, { stdio: "inherit", env });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to the whole group: the child already has it.
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
