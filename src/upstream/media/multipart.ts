/** Writes `multipart/form-data` (RFC 7578) with streamed files. */
import { randomBytes } from "node:crypto";
import type { Upload } from "../../media/index.ts";
import { streamedBody, type BodyPart } from "./streamed-body.ts";
import type { MediaBody, MediaJob } from "./types.ts";

/** One part, in the order of the body: a text field or a file. */
export type FormPart =
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly filename: string; readonly upload: Upload };

/**
 * Returns a form's body and its `Content-Type`. The boundary is random, so no file can be made to contain it. Names and file names are the
 * gateway's and need no escaping; texts are the caller's and are sent unchanged.
 */
export function multipartBody(
  form: readonly FormPart[],
  open: MediaJob["open"],
): { readonly body: MediaBody; readonly contentType: string } {
  const boundary = `tollgate-${randomBytes(24).toString("hex")}`;
  const parts = form.flatMap((part): BodyPart[] => {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${part.name}"`;
    if ("text" in part) return [`${head}\r\n\r\n${part.text}\r\n`];
    const { filename, upload } = part;
    const type = `Content-Type: ${upload.mediaType}`;
    return [`${head}; filename="${filename}"\r\n${type}\r\n\r\n`, { upload, as: "bytes" }, "\r\n"];
  });
  const body = streamedBody([...parts, `--${boundary}--\r\n`], open);
  return { body, contentType: `multipart/form-data; boundary=${boundary}` };
}
