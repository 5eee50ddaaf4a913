/**
 * Reads multipart calls: text fields, and pictures that are streamed to storage while their content is checked. Every count and size
 * has a bound. A call that is refused, or whose client leaves, keeps nothing. Requirements: TASK, EDIT1, EDIT2.
 */
import type { Readable } from "node:stream";
import { ByteBudget, type ByteLease } from "../../base/byte-budget.ts";
import { refusal } from "../../base/errors.ts";
import { ChunkBuffer } from "../../base/chunk-buffer.ts";
import type { FileDrafts } from "../../files/index.ts";
import { isImageField, type Upload } from "../../media/index.ts";
import { bodyTooLarge, incompleteBodyError } from "../bodies/body-limits.ts";
import { isLate } from "../bodies/late.ts";
import { readParts, type Part, type PartLimits } from "./multipart.ts";
import { receiveHashed, shown, storePicture, type PictureLimits } from "./picture-upload.ts";

export interface UploadLimits extends PartLimits, PictureLimits {
  /** Limits of one text field, and of all of them together. */
  readonly fieldBytes: number;
  readonly fieldsBytes: number;
  readonly files: number;
  /** Limit of the whole body. */
  readonly bodyBytes: number;
}

const mebibyte = 1_048_576;
const inMebibytes = (bytes: number): number => Math.floor(bytes / mebibyte);

/** General bounds. A family's own, tighter bounds are checked once the family is known. LIM rows. */
export const uploadLimits: UploadLimits = {
  parts: 100,
  headerBytes: 8192,
  fieldBytes: mebibyte,
  fieldsBytes: 4 * mebibyte,
  fileBytes: 25 * mebibyte,
  // Sixteen pictures and a mask. One more lets a family refuse with its own limit.
  files: 18,
  bodyBytes: 432 * mebibyte,
  sidePixels: 16_384,
  areaPixels: 100_000_000,
};

/** Bytes of pictures that one process may receive at the same time. Large uploads may use three quarters of it. */
const underWayBytesMax = 4096 * mebibyte;

/** The budget of bytes that forms may store on disk before their calls have a reservation. */
export const uploadBudget = (bytesMax = underWayBytesMax): ByteBudget =>
  new ByteBudget(bytesMax, "Too many bytes of uploads are under way. Retry in a moment.");

export interface Multipart {
  /** By the caller's names, in order. A repeated name that ends in `[]` has a list. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly images: readonly Upload[];
  readonly mask: Upload | undefined;
  /** The parts that a replay must repeat, in order: each part's name and content. */
  readonly digest: readonly PartDigest[];
}

type PartDigest = readonly [kind: "text" | "file", name: string, content: string];

interface Options {
  readonly boundary: string;
  readonly store: FileDrafts;
  readonly limits: UploadLimits;
  /** Counts the text fields, and the bytes of a picture that are in memory on their way to storage. */
  readonly lease: ByteLease;
  /** Counts the pictures, which are stored as they arrive. */
  readonly stored: ByteLease;
}

/** A body, with its connection if it has one. */
type FormSource = Readable & { readonly socket?: object };

/**
 * Reads a body to its end. On failure it removes the stored pictures before it throws. It leaves the source open, so that an answer can
 * be written. Only a source that is silent while others need its bytes is destroyed.
 * @throws GatewayError `malformed_request`, `request_too_large`, `invalid_image_file`, `image_too_large`, `too_many_images`,
 * `invalid_value`, `overloaded`
 */
export async function readMultipart(source: FormSource, options: Options): Promise<Multipart> {
  const { boundary, store, limits, lease, stored } = options;
  const body = bounded(source, limits.bodyBytes);
  const form = new Form(options);
  for (const held of [lease, stored])
    held.arrives(() => {
      held.release();
      source.destroy();
    });
  try {
    for await (const part of readParts(body, boundary, limits)) {
      if (part.isFile) await form.addFile(part);
      else await form.addText(part);
    }
    return form.whole();
  } catch (error) {
    await store.discard();
    throw error;
  } finally {
    lease.arrived();
    stored.arrived();
    await body.return(undefined);
  }
}

/**
 * Yields the body's bytes. A client that leaves is the client's fault (`malformed_request`). Leaving the loop does not destroy the
 * source.
 */
async function* bounded(
  source: FormSource,
  bytesMax: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks = source.iterator({ destroyOnReturn: false });
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await chunks
        .next()
        .catch(() => Promise.reject(incompleteBodyError()));
      if (done === true) {
        if (isLate(source)) throw incompleteBodyError();
        return;
      }
      const chunk = value as Uint8Array;
      bytes += chunk.byteLength;
      if (bytes > bytesMax) throw bodyTooLarge({ bytesMax });
      yield chunk;
    }
  } finally {
    await chunks.return?.(undefined);
  }
}

class Form {
  readonly #fields = new Map<string, unknown>();
  readonly #images: Upload[] = [];
  #mask: Upload | undefined;
  readonly #digest: PartDigest[] = [];
  #fieldsBytes = 0;
  #files = 0;
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  whole(): Multipart {
    return {
      fields: Object.fromEntries(this.#fields),
      images: this.#images,
      mask: this.#mask,
      digest: this.#digest,
    };
  }

  async addText({ name, content }: Part): Promise<void> {
    const { fieldBytes, fieldsBytes } = this.#options.limits;
    const pieces = new ChunkBuffer();
    for await (const piece of content) {
      pieces.add(piece);
      this.#options.lease.take(piece.length);
      this.#fieldsBytes += piece.length;
      if (pieces.length > fieldBytes || this.#fieldsBytes > fieldsBytes) {
        const most = `${inMebibytes(fieldBytes)} MiB, and all of them ${inMebibytes(fieldsBytes)} MiB`;
        throw refusal("request_too_large", shown(name), `a text field may have at most ${most}`);
      }
    }
    const value = decodeText(name, pieces.join());
    this.#set(name, value);
    this.#digest.push(["text", name, value]);
  }

  async addFile(part: Part): Promise<void> {
    const { limits } = this.#options;
    this.#files += 1;
    if (this.#files > limits.files)
      throw refusal(
        "too_many_images",
        shown(part.name),
        `the body has more than ${limits.files} files; send fewer`,
      );
    if (!isImageField(part.name) && part.name !== "mask") return this.#ignoreFile(part);
    const { result: upload, sha256 } = await receiveHashed(part, limits.fileBytes, (content) =>
      this.#store(shown(part.name), content),
    );
    if (upload === undefined) {
      // Browsers send this for a file input without a file.
      if (part.filename === "") return;
      throw refusal("invalid_image_file", shown(part.name), "the file is empty");
    }
    this.#digest.push(["file", part.name, sha256]);
    if (part.name !== "mask") this.#images.push(upload);
    else if (this.#mask === undefined) this.#mask = upload;
    else throw refusal("invalid_value", shown(part.name), "may be sent only once");
  }

  /**
   * Stores a picture, and counts its bytes as they arrive: in `lease` those in memory, until it is stored. Undefined if the part is
   * empty.
   * @throws GatewayError `overloaded`, and as `storePicture`
   */
  async #store(name: string, content: AsyncGenerator<Buffer>): Promise<Upload | undefined> {
    const { lease, stored, store } = this.#options;
    let held = 0;
    async function* counted(): AsyncGenerator<Buffer> {
      for await (const piece of content) {
        stored.take(piece.length);
        const more = Math.min(piece.length, store.heldBytes - held);
        if (more > 0) lease.take(more);
        held += more;
        lease.received(piece.length - more);
        yield piece;
      }
    }
    try {
      return await storePicture(name, counted(), this.#options);
    } finally {
      lease.give(held);
    }
  }

  /** No family takes such a file: it is reported like any unknown field, and its bytes are not kept. */
  async #ignoreFile(part: Part): Promise<void> {
    const { sha256 } = await receiveHashed(
      part,
      this.#options.limits.fileBytes,
      async (content) => {
        while ((await content.next()).done !== true);
      },
    );
    this.#set(part.name, { filename: part.filename.slice(0, 100) });
    this.#digest.push(["file", part.name, sha256]);
  }

  #set(name: string, value: unknown): void {
    const before = this.#fields.get(name);
    if (before !== undefined && !name.endsWith("[]"))
      throw refusal("invalid_value", shown(name), "may be sent only once");
    this.#fields.set(name, before === undefined ? value : [before, value].flat());
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeText(name: string, bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw refusal("invalid_value", shown(name), "must be valid UTF-8");
  }
}
