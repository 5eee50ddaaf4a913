/** Checks requests signed for AWS, Signature Version 4, written from its description: the gateway's side is AWS's own library. */
import { createHash, createHmac } from "node:crypto";
import { Refusal } from "../refusal.ts";
import type { Asking } from "../vendor.ts";

const skewMs = 300_000;

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac("sha256", key).update(text).digest();

const encode = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );

export interface Signed {
  readonly accessKeyId: string;
  readonly date: string;
  readonly region: string;
  readonly service: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

/** What the header says; undefined where it is no signature. */
export function signedOf(authorization: string | undefined): Signed | undefined {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      authorization ?? "",
    );
  if (!match) return undefined;
  const [, accessKeyId, date, region, service, names, signature] = match as unknown as string[];
  const signedHeaders = names!.split(";");
  return {
    accessKeyId: accessKeyId!,
    date: date!,
    region: region!,
    service: service!,
    signedHeaders,
    signature: signature!,
  };
}

const no = (type: string, message: string): never => {
  throw new Refusal(403, { message, type });
};

function checkTime(stamp: string): void {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(stamp) ?? [];
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  const stampOf = (time: number): string => new Date(time).toISOString().replace(/[-:]|\.\d+/g, "");
  const now = Date.now();
  if (Number.isNaN(ms)) no("InvalidSignatureException", "Date must be in ISO-8601 basic format.");
  if (ms < now - skewMs)
    no(
      "InvalidSignatureException",
      `Signature expired: ${stamp} is now earlier than ${stampOf(now - skewMs)} (${stampOf(now)} - 5 min.)`,
    );
  if (ms > now + skewMs)
    no(
      "InvalidSignatureException",
      `Signature not yet current: ${stamp} is still later than ${stampOf(now + skewMs)} (${stampOf(now)} + 5 min.)`,
    );
}

/** Compares the signature with the one of this secret. @throws Refusal */
export function checkSignature(signed: Signed, secret: string, asking: Asking): void {
  const { headers, target, method, text } = asking;
  const stamp = headers["x-amz-date"]?.toString() ?? "";
  checkTime(stamp);
  if (!signed.signedHeaders.includes("host") || !signed.signedHeaders.includes("x-amz-date"))
    no("InvalidSignatureException", "'Host' and 'X-Amz-Date' must be signed headers.");
  const [path = "/", query = ""] = target.split("?");
  const pairs = query
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => pair.split("=").map((part) => encode(decodeURIComponent(part))))
    .map(([name, value = ""]) => `${name}=${value}`)
    .sort();
  const canonical = [
    method,
    // Every step is encoded once more: all services but S3 have it so.
    path.split("/").map(encode).join("/"),
    pairs.join("&"),
    ...signed.signedHeaders.map(
      (name) =>
        `${name}:${String(headers[name] ?? "")
          .trim()
          .replace(/ +/g, " ")}`,
    ),
    "",
    signed.signedHeaders.join(";"),
    sha256(text),
  ].join("\n");
  const scope = `${signed.date}/${signed.region}/${signed.service}/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", stamp, scope, sha256(canonical)].join("\n");
  const key = [signed.date, signed.region, signed.service, "aws4_request"].reduce<string | Buffer>(
    hmac,
    `AWS4${secret}`,
  );
  if (hmac(key, toSign).toString("hex") === signed.signature) return;
  no(
    "InvalidSignatureException",
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.",
  );
}
