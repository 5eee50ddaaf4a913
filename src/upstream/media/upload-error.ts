/** A file of a request could not be read: a failure of the gateway's own storage, not of a vendor. */
export class UploadError extends Error {
  override name = "UploadError";
  /** The file no longer exists, so a retry is useless. */
  readonly isGone: boolean;

  constructor(message: string, options: { readonly cause?: unknown; readonly isGone?: boolean }) {
    super(message, { cause: options.cause });
    this.isGone = options.isGone ?? false;
  }
}

const unread = "an uploaded file could not be read";

/**
 * Yields the chunks of a file whose length was announced in the request's head. @throws UploadError if it cannot be read, or its length has
 * changed. An error that an aborting reader throws in is passed on unchanged.
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
