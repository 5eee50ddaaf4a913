/** A file that a request was to carry could not be read: a failure of our own storage, and of no vendor. */
export class UploadError extends Error {
  override name = "UploadError";
  /** It is not there any more, so that waiting is of no use. */
  readonly isGone: boolean;

  constructor(message: string, options: { readonly cause?: unknown; readonly isGone?: boolean }) {
    super(message, { cause: options.cause });
    this.isGone = options.isGone ?? false;
  }
}

const unread = "an uploaded file could not be read";

/**
 * The chunks of a file, whose length the head of the request has told. @throws UploadError where it cannot be read, or has another
 * length by now; what a reader that gives up throws in stays as it is
 */
export async function* chunksOfUpload(
  file: AsyncIterable<Buffer>,
  bytes: number,
): AsyncGenerator<Buffer> {
  const reading = file[Symbol.asyncIterator]();
  let left = bytes;
  try {
    for (;;) {
      const next = await reading.next().catch((error: unknown) => {
        throw error instanceof UploadError ? error : new UploadError(unread, { cause: error });
      });
      left -= next.done === true ? 0 : next.value.length;
      if (left < 0 || (next.done === true && left > 0)) throw new UploadError(unread, {});
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await reading.return?.();
  }
}
