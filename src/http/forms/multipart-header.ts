/** Parses the headers of multipart bodies: the boundary, and the header block of a part. RFC 7578, RFC 2046. */
import { GatewayError } from "../../base/errors.ts";

export interface PartHeader {
  readonly name: string;
  /** True for an upload rather than a text field: it has a file name, or its type is a picture or octet stream. */
  readonly isFile: boolean;
  /** The sender's name of the file, empty if absent. Only shown in messages, never trusted. */
  readonly filename: string;
}

export const malformed = (message: string): GatewayError =>
  new GatewayError("malformed_request", message);

/** Returns the boundary that a Content-Type names. @throws GatewayError `malformed_request` without a usable one. */
export function boundaryOf(contentType: string): string {
  const [, quoted, token] =
    /;\s*boundary\s*=\s*(?:"([^"\r\n]*)"|([^\s;,"]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? token ?? "";
  if (!/^[\x20-\x7e]{0,69}[\x21-\x7e]$/.test(boundary)) {
    throw malformed(
      "The Content-Type of a multipart body must name its boundary, of 1 to 70 characters.",
    );
  }
  return boundary;
}

const identityEncodings = new Set(["7bit", "8bit", "binary"]);

/** Parses a part's header block. @throws GatewayError `malformed_request`; nothing is skipped in silence. */
export function readPartHeader(block: Buffer): PartHeader {
  const headers = headerLines(block.toString("utf8"));
  const disposition = headers.get("content-disposition");
  if (disposition === undefined || !/^form-data\s*(;|$)/i.test(disposition))
    throw malformed("Each part of the body needs the header Content-Disposition: form-data.");
  const parameters = dispositionParameters(disposition);
  const name = parameters.get("name");
  if (name === undefined || name === "") throw malformed("A part of the body has no name.");
  const encoding = headers.get("content-transfer-encoding") ?? "binary";
  if (!identityEncodings.has(encoding.toLowerCase()))
    throw malformed(`The part "${name.slice(0, 60)}" has a Content-Transfer-Encoding; send bytes.`);
  const filename = parameters.get("filename") ?? parameters.get("filename*");
  const type = headers.get("content-type") ?? "text/plain";
  const isFile = filename !== undefined || /^(image\/|application\/octet-stream)/i.test(type);
  return { name, isFile, filename: filename ?? "" };
}

function headerLines(text: string): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of text.split("\r\n")) {
    // Blanks are trimmed afterwards: if two parts of the expression could match them, a long run of blanks would backtrack.
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):([^\r\n]*)$/.exec(line) ?? [];
    if (name === undefined) throw malformed("A part of the body has a malformed header.");
    if (headers.has(name.toLowerCase()))
      throw malformed(`A part of the body has two headers ${name.slice(0, 60)}.`);
    headers.set(name.toLowerCase(), value!.trim());
  }
  return headers;
}

/** Parses the parameters of a Content-Disposition. Browsers escape a quotation mark as `%22`, others with a backslash: both are decoded. */
function dispositionParameters(disposition: string): Map<string, string> {
  const parameters = new Map<string, string>();
  const pattern = /;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/g;
  for (const [, name, quoted, token] of disposition.matchAll(pattern)) {
    const value = quoted?.replace(/\\(["\\])/g, "$1").replaceAll("%22", '"') ?? token!;
    if (parameters.has(name!.toLowerCase()))
      throw malformed(`A part's Content-Disposition says ${name!.slice(0, 60)} twice.`);
    parameters.set(name!.toLowerCase(), value);
  }
  return parameters;
}
