/** Checks of the settings beyond their schema: values with which a start, or every request to that server, would fail. */
import { isObject, type WireObject } from "../base/json.ts";
import { hasUserinfo } from "../base/userinfo.ts";
import type { Finding, Path } from "./mistakes.ts";
import { valueAt } from "./rows.ts";

/** True for an HTTP or HTTPS URL without query and fragment. */
export function isPlainUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.search + url.hash === "";
}

interface Address {
  readonly path: Path;
  /** An example of a valid address. */
  readonly fix: string;
  /** The schema refuses addresses of another form already. */
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

function checkAddress(file: WireObject, { path, fix, form = /./ }: Address): Finding[] {
  const text = valueAt(file, path);
  if (typeof text !== "string" || !form.test(text)) return [];
  if (!isPlainUrl(text)) return [{ path, message: `"${text}" is not an address`, fix }];
  if (!hasUserinfo(text)) return [];
  return [{ path, message: "names a user or a password, which would not be sent", fix }];
}

/** Field names and values by RFC 9110: an invalid header would make every export of traces fail. */
const headerName = /^[\w!#$%&'*+\-.^`|~]{1,100}$/;
const headerValue = /^[\x20-\x7e]{0,8192}$/;

/** True if the header can be sent to a collector. */
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

/** Finds every such mistake of a file. */
export const checkSettings = (file: WireObject): Finding[] => [
  ...addresses.flatMap((address) => checkAddress(file, address)),
  ...checkHeaders(file),
];
