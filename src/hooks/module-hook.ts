/**
 * A hook in a module of the operator. It runs in its own thread, so that it cannot stop the gateway. A thread that blocks, leaves too
 * many questions unanswered, or ends is replaced by a new one. docs/hooks.md.
 */
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import type { Log } from "../base/log.ts";
import { isObject } from "../base/json.ts";
import { ownEntry } from "../base/own-files.ts";
import { HookFailedError } from "./answer.ts";
import type { HookTransport, HookRequest } from "./transport.ts";

/** The data that a thread starts with. */
export interface ThreadStart {
  /** A `file:` URL. */
  readonly module: string;
  readonly at: "before" | "after";
}
export interface ThreadQuestion extends Pick<HookRequest, "text" | "answerBytesMax"> {
  readonly id: number;
}
export type ToThread = ThreadQuestion | "ping";
export type FromThread =
  | "ready"
  | "pong"
  | { readonly unloadable: string }
  | { readonly id: number; readonly text: string }
  | { readonly id: number; readonly error: string };

/** False for what a module posts itself, since it has the same port. */
function isFromThread(message: unknown): message is FromThread {
  if (!isObject(message)) return message === "ready" || message === "pong";
  const { id, text, error, unloadable } = message;
  if (typeof id !== "number") return typeof unloadable === "string";
  return typeof text === "string" || typeof error === "string";
}

interface ModuleHookOptions {
  readonly name: string;
  readonly at: ThreadStart["at"];
  /** Absolute. */
  readonly path: string;
  readonly log: Log;
}

const loadMsMax = 10_000;
/** A thread that is not blocked answers a ping within this many ms. */
const pongMsMax = 250;
/** The most unanswered questions; then the thread is replaced, because it may still hold their data. */
const abandonedMax = 100;
const waitingMax = 1_000;
/** Milliseconds between two threads, so that one that dies at once does not keep a processor busy. */
const restartMs = 500;
/** A module that fills its memory ends its thread, not the gateway. */
const resourceLimits = { maxOldGenerationSizeMb: 512 };

const threadFile = ownEntry("src/hooks/module-worker");

interface Pending {
  readonly resolve: (text: string) => void;
  readonly reject: (error: HookFailedError) => void;
}

interface ThreadOptions extends Pick<ModuleHookOptions, "path" | "at"> {
  /** True hides the module's output; false if absent. */
  readonly isQuiet?: boolean;
}

/** One thread, from its start to its end. */
class Thread {
  readonly ready: Promise<void>;
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #isReady = false;
  #isOver = false;
  #abandoned = 0;
  #pinging: NodeJS.Timeout | undefined;
  #count = 0;

  /** `over` is called once, when the thread can no longer be used. */
  constructor({ path, at, isQuiet }: ThreadOptions, over: (why: string) => void) {
    const workerData: ThreadStart = { module: pathToFileURL(path).href, at };
    // `stdout: true` buffers the output for a reader, and there is none.
    this.#worker = new Worker(threadFile, { workerData, resourceLimits, stdout: isQuiet ?? false });
    this.#worker.unref();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.ready = promise;
    this.ready.catch(() => undefined);
    const end = (why: string): void => {
      if (this.#isOver) return;
      this.#isOver = true;
      clearTimeout(this.#pinging);
      clearTimeout(late);
      const error = new HookFailedError(why);
      reject(error);
      for (const one of this.#pending.values()) one.reject(error);
      this.#pending.clear();
      void this.#worker.terminate();
      over(why);
    };
    this.end = end;
    const late = setTimeout(() => end(`it was not loaded within ${loadMsMax} ms`), loadMsMax);
    this.#worker.on("message", (message: unknown) => {
      if (!isFromThread(message)) return;
      if (message === "ready") {
        clearTimeout(late);
        this.#isReady = true;
        resolve();
      } else if (message === "pong") this.#onPong();
      else if ("unloadable" in message) end(message.unloadable);
      else this.#onAnswer(message);
    });
    this.#worker.on("error", (error) => end(`its thread failed: ${messageOf(error)}`));
    this.#worker.on("exit", () => end("its thread ended"));
  }

  /** Terminates the thread, whatever it is doing. */
  readonly end: (why: string) => void;

  /** Resolves with the answer's JSON. @throws HookFailedError */
  ask({ text, timeoutMs, answerBytesMax }: HookRequest): Promise<string> {
    if (this.#isOver) return Promise.reject(new HookFailedError("its thread is being replaced"));
    if (this.#pending.size >= waitingMax)
      return Promise.reject(new HookFailedError("too many questions wait for it"));
    this.#count += 1;
    const id = this.#count;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const timer = setTimeout(() => {
      this.#pending.delete(id);
      reject(new HookFailedError(`no answer within ${timeoutMs} ms`));
      // While the module loads, the thread has no question yet; loadMsMax limits that time.
      if (this.#isReady) this.#onTimeout();
    }, timeoutMs);
    const settled =
      <Value>(settle: (value: Value) => void) =>
      (value: Value): void => {
        clearTimeout(timer);
        settle(value);
      };
    this.#pending.set(id, { resolve: settled(resolve), reject: settled(reject) });
    const send = (): void => {
      if (this.#pending.has(id)) this.#send({ id, text, answerBytesMax });
    };
    if (this.#isReady) send();
    else this.ready.then(send, () => undefined);
    return promise;
  }

  #onAnswer(message: Exclude<FromThread, string | { unloadable: string }>): void {
    const pending = this.#pending.get(message.id);
    if (pending === undefined) {
      // A late answer: its caller gave up, and the thread no longer holds the question.
      this.#abandoned -= 1;
      return;
    }
    this.#pending.delete(message.id);
    if ("text" in message) pending.resolve(message.text);
    else pending.reject(new HookFailedError(message.error.slice(0, 300)));
  }

  /** Called when a question timed out. Pings the thread, to find out whether it is blocked or only this answer is late. */
  #onTimeout(): void {
    if (this.#isOver) return;
    this.#abandoned += 1;
    if (this.#abandoned > abandonedMax) return this.end("it left too many questions unanswered");
    if (this.#pinging !== undefined) return;
    this.#pinging = setTimeout(() => this.end("it blocked its thread"), pongMsMax);
    this.#send("ping");
  }

  #send(message: ToThread): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    this.#worker.postMessage(message);
  }

  #onPong(): void {
    clearTimeout(this.#pinging);
    this.#pinging = undefined;
  }
}

type Named = Pick<ModuleHookOptions, "name" | "path">;

/** Resolves when the thread has loaded its module. @throws Error naming the hook; the thread has ended then */
async function loaded(thread: Thread, { name, path }: Named): Promise<void> {
  try {
    await thread.ready;
  } catch (error) {
    const why = messageOf(error);
    throw new Error(`the hook "${name}" cannot be loaded from ${path}: ${why}`, { cause: error });
  }
}

/**
 * Loads a module to check it, with its output hidden, and ends the thread. @throws Error naming the hook if the module cannot be
 * loaded
 */
export async function loadModule(hook: Omit<ModuleHookOptions, "log">): Promise<void> {
  const thread = new Thread({ ...hook, isQuiet: true }, () => undefined);
  await loaded(thread, hook);
  thread.end("it was looked at");
}

/** Starts a module's thread. @throws Error naming the hook if the module cannot be loaded */
export async function moduleHook(options: ModuleHookOptions): Promise<HookTransport> {
  const { name, log } = options;
  let isClosed = false;
  let isLoaded = false;
  let restart: NodeJS.Timeout | undefined;
  let thread = start();

  function start(): Thread {
    return new Thread(options, (why) => {
      if (isClosed || !isLoaded) return;
      log.warn({ hook: name, why }, "a hook's thread is replaced");
      restart = setTimeout(() => (thread = start()), restartMs);
    });
  }
  async function close(): Promise<void> {
    isClosed = true;
    clearTimeout(restart);
    thread.end("the gateway stops");
  }

  await loaded(thread, options);
  isLoaded = true;
  return {
    ask: async (question) => Buffer.from(await thread.ask(question)),
    close,
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : "unknown");
