/** What of the settings cannot be right, beyond their schema: a start would fail by it, or everything that goes there. */
import { isObject, type WireObject } from "../base/json.ts";
import { hasUserinfo } from "../base/userinfo.ts";
import type { Finding, Path } from "./mistakes.ts";

/** Whether an address can be called, and has nothing behind its path. */
export function isPlainUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.search + url.hash === "";
}

interface Address {
  readonly path: Path;
  /** How one is written. */
  readonly fix: string;
  /** What its schema refuses already. */
  readonly form?: RegExp;
}

/** The settings that name a server. */
const addresses: readonly Address[] = [
  { path: ["console", "oidc", "issuer"], fix: "write https://accounts.example.com" },
  { path: ["storage", "endpoint"], fix: "write http://minio:9000" },
  { path: ["exports", "endpoint"], fix: "write http://minio:9000" },
  {
    path: ["telemetry", "otlp_endpoint"],
    fix: "write http://collector:4318",
    form: /^https?:\/\/[^\s?#@]+$/,
  },
];

const valueAt = (file: WireObject, path: Path): unknown =>
  path.reduce<unknown>((value, step) => (isObject(value) ? value[step] : undefined), file);

function checkAddress(file: WireObject, { path, fix, form = /./ }: Address): Finding[] {
  const text = valueAt(file, path);
  if (typeof text !== "string" || !form.test(text)) return [];
  if (!isPlainUrl(text)) return [{ path, message: `"${text}" is not an address`, fix }];
  if (!hasUserinfo(text)) return [];
  return [{ path, message: "names a user or a password, which would not be sent", fix }];
}

/** As RFC 9110 has field names and values: what cannot be a header would fail every export of traces. */
const headerName = /^[\w!#$%&'*+\-.^`|~]{1,100}$/;
const headerValue = /^[\x20-\x7e]{0,8192}$/;

/** Whether a collector can be sent a header. */
export const isHeader = (name: string, value: string): boolean =>
  headerName.test(name) && headerValue.test(value);

function checkHeaders(file: WireObject): Finding[] {
  const path: Path = ["telemetry", "otlp_headers"];
  const headers = valueAt(file, path);
  return Object.entries(isObject(headers) ? headers : {}).flatMap(([name, value]): Finding[] => {
    if (typeof value !== "string" || isHeader(name, value)) return [];
    return [{ path: [...path, name], message: "cannot be sent as a header", fix: "" }];
  });
}

/** Every such mistake of a file. */
export const checkSettings = (file: WireObject): Finding[] => [
  ...addresses.flatMap((address) => checkAddress(file, address)),
  ...checkHeaders(file),
];
