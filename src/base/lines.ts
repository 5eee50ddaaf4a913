/**
 * Writes many short lines to standard error in batches. Never waits for a slow reader: lines that the reader does not take are kept up to a
 * bound, and then lost.
 */
import { closeSync, constants, fstatSync, openSync, write, writeSync, type Stats } from "node:fs";

export interface Lines {
  /** Takes one line, including its line end. */
  write(line: string): unknown;
  /**
   * Writes the waiting lines, and ends. Lines are lost if the reader takes nothing for a second, or not all in five. Output of a thread in
   * flight may come after them.
   */
  flushSync(): void;
}

/**
 * The most bytes per write, because several processes write to one place. A write up to this size stays whole in a pipe (pipe(7), PIPE_BUF)
 * and elsewhere. The larger size holds for a file, and for a socket on Linux, such as the journal's. Each write takes a thread's turn on
 * the processor.
 */
const atOnceBytes = 4_096;
const largeBytes = 32_768;
/** The most bytes that may wait for a slow reader. */
const waitingBytesMax = 4 * 1024 * 1024;
const flushMs = 250;
const endMs = 1_000;
const endMsMax = 5_000;
/** A pipe takes 64 kB between two tries: at ten times this interval, the waiting lines would hardly get out in time. */
const endStepMs = 1;

const standardError = 2;

export function errorLines(): Lines {
  const place = placeOfStandardError();
  const pipe = place?.isFIFO() === true ? openUnblocked() : undefined;
  if (pipe !== undefined) return new PipeLines(pipe);
  const isLarge = place?.isFile() === true || place?.isSocket() === true;
  return new ThreadLines(isLarge ? largeBytes : atOnceBytes);
}

/** Undefined if standard error is closed. */
function placeOfStandardError(): Stats | undefined {
  try {
    return fstatSync(standardError);
  } catch {
    return undefined;
  }
}

/** Opens the pipe again, so that writes never block; undefined if the system cannot. */
function openUnblocked(): number | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return openSync(`/proc/self/fd/${standardError}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

/** Gathers lines into texts that are written at once. */
abstract class BufferedLines implements Lines {
  readonly #bytes: number;
  readonly #timer: NodeJS.Timeout;
  /** Lines that do not fill a text yet. */
  #text = "";
  /** Texts that the reader has not taken. */
  protected readonly waiting: string[] = [];

  constructor(bytes: number) {
    this.#bytes = bytes;
    this.#timer = setInterval(() => this.#flush(), flushMs).unref();
  }

  /** Writes the waiting texts, as far as the reader takes them. */
  protected abstract send(): void;
  /** Writes a text and blocks the process; false if it must be tried again. */
  protected abstract writeNow(text: string): boolean;
  protected abstract close(): void;

  write(line: string): void {
    if (this.#text.length + line.length > this.#bytes) this.#flush();
    this.#text += line;
  }

  flushSync(): void {
    clearInterval(this.#timer);
    this.#keep();
    const lastMs = performance.now() + endMsMax;
    for (const text of this.waiting.splice(0)) {
      const endsMs = Math.min(performance.now() + endMs, lastMs);
      while (!this.writeNow(text)) {
        if (performance.now() >= endsMs) return this.close();
        Atomics.wait(sleepCell, 0, 0, endStepMs);
      }
    }
    this.close();
  }

  #flush(): void {
    this.#keep();
    this.send();
  }

  #keep(): void {
    const fits = this.waiting.length * this.#bytes < waitingBytesMax;
    if (this.#text !== "" && fits) this.waiting.push(this.#text);
    this.#text = "";
  }
}

/** Used only to sleep: it is never notified. */
const sleepCell = new Int32Array(new SharedArrayBuffer(4));

/** Writes to a pipe that never blocks: it takes up to `atOnceBytes` whole or not at all. */
class PipeLines extends BufferedLines {
  /** Undefined after the end: its number may belong to another file by then. */
  #pipe: number | undefined;

  constructor(pipe: number) {
    super(atOnceBytes);
    this.#pipe = pipe;
  }

  protected send(): void {
    let taken = 0;
    while (taken < this.waiting.length && this.writeNow(this.waiting[taken]!)) taken += 1;
    this.waiting.splice(0, taken);
  }

  protected writeNow(text: string): boolean {
    return this.#pipe === undefined || tryWrite(this.#pipe, text);
  }

  protected close(): void {
    if (this.#pipe !== undefined) closeSync(this.#pipe);
    this.#pipe = undefined;
  }
}

/** Writes to anything else, in a thread, which costs the process more than ten times as much. */
class ThreadLines extends BufferedLines {
  #isWriting = false;

  protected send(): void {
    if (this.#isWriting || this.waiting.length === 0) return;
    this.#isWriting = true;
    this.#write(Buffer.from(this.waiting.shift()!));
  }

  #write(bytes: Buffer): void {
    write(standardError, bytes, (error, count) => {
      if (isBusy(error)) return void setTimeout(() => this.#write(bytes), flushMs).unref();
      if (error === null && count < bytes.length) return this.#write(bytes.subarray(count));
      this.#isWriting = false;
      this.send();
    });
  }

  protected writeNow(text: string): boolean {
    return tryWrite(standardError, text);
  }

  protected close(): void {}
}

const isBusy = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | null)?.code === "EAGAIN";

/** False if the write must be tried again. If the reader is gone, the lines are lost, and nothing else happens. */
function tryWrite(descriptor: number, text: string): boolean {
  try {
    writeSync(descriptor, text);
    return true;
  } catch (error) {
    return !isBusy(error);
  }
}
