/**
 * Many short lines to standard error, written together. Nobody waits for whoever reads them: where they are not taken, they are
 * kept up to a bound, and then lost.
 */
import { closeSync, constants, fstatSync, openSync, write, writeSync, type Stats } from "node:fs";

export interface Lines {
  /** Takes one line with its end. */
  write(line: string): unknown;
  /** Writes what waits, and ends. Where nothing is taken for a second, or not all of it in five, the rest is lost. What a thread still writes may come behind it. */
  flushSync(): void;
}

/**
 * Lines of several processes go to one place: what is written at once stays whole up to this, in a pipe (pipe(7), PIPE_BUF) and in
 * anything; then in a file, and in a socket, such as the journal's, on Linux. Each write is a thread's turn on the processor.
 */
const atOnceBytes = 4_096;
const largeBytes = 32_768;
/** What may wait where nobody takes it. */
const waitingBytesMax = 4 * 1024 * 1024;
const flushMs = 250;
const endMs = 1_000;
const endMsMax = 5_000;
/** A pipe takes 64 kB between two of them: at ten times this, what may wait would hardly get out in time. */
const endStepMs = 1;

const standardError = 2;

export function errorLines(): Lines {
  const place = placeOfStandardError();
  const pipe = place?.isFIFO() === true ? openUnblocked() : undefined;
  if (pipe !== undefined) return new PipeLines(pipe);
  const isLarge = place?.isFile() === true || place?.isSocket() === true;
  return new ThreadLines(isLarge ? largeBytes : atOnceBytes);
}

/** Undefined where it is closed. */
function placeOfStandardError(): Stats | undefined {
  try {
    return fstatSync(standardError);
  } catch {
    return undefined;
  }
}

/** Its pipe opened anew, so that writing to it never waits; undefined where the system has no way. */
function openUnblocked(): number | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return openSync(`/proc/self/fd/${standardError}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

/** Gathers lines into texts that are written at once. */
abstract class Gathered implements Lines {
  readonly #bytes: number;
  readonly #timer: NodeJS.Timeout;
  /** Lines that are not so many yet. */
  #text = "";
  /** Texts that were not taken. */
  protected readonly waiting: string[] = [];

  constructor(bytes: number) {
    this.#bytes = bytes;
    this.#timer = setInterval(() => this.#flush(), flushMs).unref();
  }

  /** Writes what waits, as far as it is taken. */
  protected abstract send(): void;
  /** Writes a text while everybody waits; false where it is to be tried again. */
  protected abstract put(text: string): boolean;
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
      while (!this.put(text)) {
        if (performance.now() >= endsMs) return this.close();
        Atomics.wait(nobody, 0, 0, endStepMs);
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

/** Nobody wakes who waits for it. */
const nobody = new Int32Array(new SharedArrayBuffer(4));

/** To a pipe that never waits: it takes up to `atOnceBytes` whole or not at all. */
class PipeLines extends Gathered {
  /** Undefined at the end: its number may be another file's by then. */
  #pipe: number | undefined;

  constructor(pipe: number) {
    super(atOnceBytes);
    this.#pipe = pipe;
  }

  protected send(): void {
    let taken = 0;
    while (taken < this.waiting.length && this.put(this.waiting[taken]!)) taken += 1;
    this.waiting.splice(0, taken);
  }

  protected put(text: string): boolean {
    return this.#pipe === undefined || wasTaken(this.#pipe, text);
  }

  protected close(): void {
    if (this.#pipe !== undefined) closeSync(this.#pipe);
    this.#pipe = undefined;
  }
}

/** To anything else: a thread writes, which costs the process more than ten times as much. */
class ThreadLines extends Gathered {
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

  protected put(text: string): boolean {
    return wasTaken(standardError, text);
  }

  protected close(): void {}
}

const isBusy = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | null)?.code === "EAGAIN";

/** False where it is to be tried again. A reader that is gone takes lines along, and nothing else. */
function wasTaken(descriptor: number, text: string): boolean {
  try {
    writeSync(descriptor, text);
    return true;
  } catch (error) {
    return !isBusy(error);
  }
}
