/** A reply that forwards everything to another reply. Base class for observers of an answer. */
import type { SseEvent } from "../base/sse.ts";
import type { Reply } from "./reply.ts";

export abstract class ForwardingReply implements Reply {
  protected readonly inner: Reply;

  constructor(inner: Reply) {
    this.inner = inner;
  }

  /** Called with the frames of a stream, before they are forwarded. */
  protected abstract onFrames(frames: readonly SseEvent[]): void;

  get started(): boolean {
    return this.inner.started;
  }

  get ended(): boolean {
    return this.inner.ended;
  }

  get gone(): boolean {
    return this.inner.gone;
  }

  whole(body: object, headers: Readonly<Record<string, string>>): void {
    this.inner.whole(body, headers);
  }

  open(headers: Readonly<Record<string, string>>): void {
    this.inner.open(headers);
  }

  write(frames: readonly SseEvent[]): boolean {
    this.onFrames(frames);
    return this.inner.write(frames);
  }

  keepAlive(): void {
    this.inner.keepAlive();
  }

  end(frames: readonly SseEvent[]): void {
    this.onFrames(frames);
    this.inner.end(frames);
  }

  onDrain(handler: () => void): void {
    this.inner.onDrain(handler);
  }

  onGone(handler: () => void): void {
    this.inner.onGone(handler);
  }
}
