/**
 * Writes lines to standard error, in batches or at once. Never waits for a slow reader: lines that the reader does not take are kept up to
 * a bound, and then lost.
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

/** Lines that are sent at once. */
export interface PromptLines extends Lines {
  /** Takes one line, including its line end, and sends it at once if no other waits. */
  writeAtOnce(line: string): void;
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

/** True if a write to standard error never waits for a reader. */
export const isErrorFile = (): boolean => placeOfStandardError()?.isFile() !== false;

export function errorLines(): PromptLines {
  const place = placeOfStandardError();
  // A terminal that is stopped (Ctrl-S) takes no lines either.
  const isOpenable = place?.isFIFO() === true || place?.isCharacterDevice() === true;
  const pipe = isOpenable ? openUnblocked() : undefined;
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

/** Opens the pipe or terminal again, so that writes never block; undefined if the system cannot. */
function openUnblocked(): number | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
    return openSync(`/proc/self/fd/${standardError}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    return undefined;
  }
}

/** Gathers lines into texts that are written at once. */
abstract class BufferedLines implements PromptLines {
  readonly #bytes: number;
  readonly #timer: NodeJS.Timeout;
  /** Lines that do not fill a text yet. */
  #text = "";
  /** Texts that the reader has not taken. */
  protected readonly waiting: Buffer[] = [];

  constructor(bytes: number) {
    this.#bytes = bytes;
    this.#timer = setInterval(() => this.#flush(), flushMs).unref();
  }

  /** Writes the waiting texts, as far as the reader takes them. */
  protected abstract send(): void;
  /** Writes a text and blocks the process. @returns how many bytes are done with; the others must be tried again */
  protected abstract writeNow(text: Buffer): number;
  protected abstract close(): void;

  write(line: string): void {
    if (this.#text.length + line.length > this.#bytes) this.#flush();
    this.#text += line;
  }

  writeAtOnce(line: string): void {
    this.write(line);
    if (this.waiting.length === 0) this.#flush();
  }

  flushSync(): void {
    clearInterval(this.#timer);
    this.#keep();
    const lastMs = performance.now() + endMsMax;
    for (let text of this.waiting.splice(0)) {
      const endsMs = Math.min(performance.now() + endMs, lastMs);
      while ((text = text.subarray(this.writeNow(text))).length > 0) {
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
    // One long line is cut into pieces, because only a piece is taken whole or not at all.
    const bytes = Buffer.from(fits ? this.#text : "");
    for (let at = 0; at < bytes.length; at += this.#bytes)
      this.waiting.push(bytes.subarray(at, at + this.#bytes));
    this.#text = "";
  }
}

/** Used only to sleep: it is never notified. */
const sleepCell = new Int32Array(new SharedArrayBuffer(4));

/** Writes to a pipe or terminal that never blocks: it takes up to `atOnceBytes` whole or not at all. */
class PipeLines extends BufferedLines {
  /** Undefined after the end: its number may belong to another file by then. */
  #pipe: number | undefined;

  constructor(pipe: number) {
    super(atOnceBytes);
    this.#pipe = pipe;
  }

  protected send(): void {
    while (this.waiting.length > 0) {
      const text = this.waiting.shift()!;
      const rest = text.subarray(this.writeNow(text));
      if (rest.length > 0) return void this.waiting.unshift(rest);
    }
  }

  protected writeNow(text: Buffer): number {
    return this.#pipe === undefined ? text.length : tryWrite(this.#pipe, text);
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
    this.#write(this.waiting.shift()!);
  }

  #write(bytes: Buffer): void {
    write(standardError, bytes, (error, count) => {
      if (error === null && count < bytes.length) return this.#write(bytes.subarray(count));
      this.#isWriting = false;
      // Not held here: the end must find it among the waiting texts.
      if (isBusy(error)) this.waiting.unshift(bytes);
      else this.send();
    });
  }

  protected writeNow(text: Buffer): number {
    return tryWrite(standardError, text);
  }

  protected close(): void {}
}

const isBusy = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | null)?.code === "EAGAIN";

/** Returns how many bytes are done with. If the reader is gone, the lines are lost, and nothing else happens. */
function tryWrite(descriptor: number, text: Buffer): number {
  try {
    return writeSync(descriptor, text);
  } catch (error) {
    return isBusy(error) ? 0 : text.length;
  }
}
